"""Write a model in another layout: Hugging Face's, which transformers opens, or gptlab's own."""

from argparse import ArgumentParser, Namespace

EXAMPLES = """
gptlab export my-model for-transformers
gptlab export my-model smaller --layout gptlab --dtype float16
gptlab export for-transformers my-model --layout gptlab          # and back
"""

DTYPES = ("float32", "float16", "bfloat16")


def options(parser: ArgumentParser) -> None:
    """Which words the command takes."""
    parser.add_argument("model", help="a name or a folder that gptlab.load opens")
    parser.add_argument("folder", help="where to write; a model that lies there is replaced when the new one is whole")
    parser.add_argument("--layout", choices=("huggingface", "gptlab"), default="huggingface")
    parser.add_argument("--dtype", choices=DTYPES, default="float32", help="what the weights are stored in")


def run(args: Namespace) -> None:
    """Load the model and save it."""
    import torch

    from gptlab.loading import load, save

    model, tok = load(args.model)
    save(args.folder, model, tok, getattr(torch, args.dtype), layout=args.layout)
    count = model.config.parameter_count()["total"]
    print(f"{args.folder}: layout {args.layout}, {count:,} parameters in {args.dtype}")
