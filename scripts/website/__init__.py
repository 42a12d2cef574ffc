"""The lessons as pages that need no kernel and ask no other host for anything; `make_site.py` writes them.

In the order in which they build on one another:
    formulas   LaTeX → MathML
    prose      a text cell → HTML
    figures    a stored Plotly figure and its words → HTML: native controls, alternative text, the data
    cells      a cell, and a code cell's outputs → HTML
    course     the lessons in their order, with what the notebooks and the teacher's page say of them
    pages      the index and a page for each lesson, in a folder
What a browser needs besides stands in `assets`: the style, the script that draws figures and moves their controls, and
the one that says their numbers. `plotly.min.js` comes from the installed Plotly.
"""
