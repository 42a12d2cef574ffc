"""Three tokens, with one head or another silent."""

from gptlab import figures


def example():
    silent = {"0.0": [0.55, 0.35, 0.1], "0.1": [0.1, 0.7, 0.2], "both": [0.05, 0.15, 0.8]}
    losses = {"0.0": 0.75, "0.1": 1.1, "both": 2.0}
    return figures.ablation_bars(
        ["␣were", "␣was"],
        [0.6, 0.3, 0.1],
        silent,
        whole_loss=0.73,
        silent_losses=losses,
        n_others=2_383,
        floor=0.71,
        shown="0.1",
    )
