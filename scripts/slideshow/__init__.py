"""The lessons as slides that need no kernel and ask no other host for anything; `make_slides.py` writes them.

In the order in which they build on one another:
    screens    a lesson's cells, by their `slideshow` marks, as what is seen at a time
    decks      a page of slides for each lesson, and their list, in a folder
Cells and figures look as on the site: `website` makes their HTML. What turns the slides is reveal.js.
"""
