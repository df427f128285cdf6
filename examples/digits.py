"""Train a classifier of scanned digits, and look at its program at every step of the way.

usage: python examples/digits.py [--epochs 30] [--out digits.png] [--no-picture] [--quick]

The data are the 1,797 scanned digits that scikit-learn ships (8 x 8 pixels, from the UCI repository). A fifth of them
is held out. The script prints the staged loss, its gradient and its form for a batch of examples, as programs, before
and after clean-up; trains a network of two layers; measures how large each example's gradient is; and draws the loss
curve and some of the digits that the network misreads.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

import glax
import glax.numpy as gnp
from glax import nn, rewrite
from glax.ir import ClosedJaxpr, Jaxpr


def split_data(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pixels from 0 to 1 and labels, in random order: four fifths to train on, then a fifth to test on."""
    digits = load_digits()
    order = np.random.default_rng(seed).permutation(len(digits.target))
    pixels = (digits.data[order] / 16).astype(np.float32)
    labels = digits.target[order].astype(np.int32)
    cut = len(labels) * 4 // 5
    return pixels[:cut], labels[:cut], pixels[cut:], labels[cut:]


def initial_parameters(rng: np.random.Generator, sizes: tuple[int, ...]) -> list[tuple]:
    """Weights scaled to the size of their input, and zero biases, a pair a layer."""
    return [(gnp.asarray(rng.normal(size=(a, b)) * np.sqrt(2 / a), gnp.float32), gnp.zeros(b))
            for a, b in zip(sizes, sizes[1:])]


def scores(params: list[tuple], pixels):
    """The network: pixels of one digit to a score for each class."""
    (w1, b1), (w2, b2) = params
    return gnp.tanh(pixels @ w1 + b1) @ w2 + b2


def example_loss(params: list[tuple], pixels, label):
    """Cross entropy of one example."""
    return -nn.log_softmax(scores(params, pixels))[label]


def batch_loss(params: list[tuple], pixels, labels):
    """Mean cross entropy of a batch: the loss of one example, mapped."""
    return glax.vmap(example_loss, in_axes=(None, 0, 0))(params, pixels, labels).mean()


@glax.jit
def train_step(params, velocity, pixels, labels, rate):
    """One step of gradient descent with momentum."""
    loss, slopes = glax.value_and_grad(batch_loss)(params, pixels, labels)
    velocity = glax.tree.map(lambda v, g: .9 * v - rate * g, velocity, slopes)
    return glax.tree.map(gnp.add, params, velocity), velocity, loss


@glax.jit
def gradient_norms(params, pixels, labels):
    """The length of each example's gradient: vmap of grad."""
    slopes = glax.vmap(glax.grad(example_loss), in_axes=(None, 0, 0))(params, pixels, labels)
    squares = [gnp.sum(leaf ** 2, axis=tuple(range(1, leaf.ndim))) for leaf in glax.tree.leaves(slopes)]
    return gnp.sqrt(sum(squares))


@glax.jit
def predictions(params, pixels):
    return gnp.argmax(glax.vmap(scores, in_axes=(None, 0))(params, pixels), axis=1)


def show_program(title: str, program: ClosedJaxpr) -> None:
    """Print a program, and its size, before and after clean-up."""
    clean: Jaxpr = rewrite.clean_up(program.jaxpr)
    print(f"\n--- {title}: {program.jaxpr.count()} equations, {clean.count()} after clean-up ---")
    print("as staged and rewritten:")
    print(program.jaxpr)
    print("after inline, fold, simplify, cse, dce:")
    print(clean)


def show_programs(params, pixels, labels) -> None:
    show_program("the loss of one example", glax.make_jaxpr(example_loss)(params, pixels[0], labels[0]))
    show_program("its gradient", glax.make_jaxpr(glax.grad(example_loss))(params, pixels[0], labels[0]))
    show_program("the loss of a batch", glax.make_jaxpr(batch_loss)(params, pixels, labels))
    show_program("the gradient for a batch", glax.make_jaxpr(glax.grad(batch_loss))(params, pixels, labels))


def train(params, pixels: np.ndarray, labels: np.ndarray, epochs: int, batch: int = 64, seed: int = 1):
    """Parameters after some passes over the data, and the mean loss of each pass."""
    rng = np.random.default_rng(seed)
    velocity = glax.tree.map(gnp.zeros_like, params)
    curve = []
    with tqdm(range(epochs), desc="training", unit="epoch") as bar:
        for epoch in bar:
            rate = np.float32(.1 * (1 - epoch / epochs))
            order = rng.permutation(len(labels))
            losses = []
            for start in range(0, len(order) - batch + 1, batch):
                chosen = order[start:start + batch]
                params, velocity, loss = train_step(params, velocity, pixels[chosen], labels[chosen], rate)
                losses.append(loss)
            curve.append(float(np.mean([float(x) for x in losses])))
            bar.set_postfix(loss=f"{curve[-1]:.4f}")
    return params, curve


def draw(path: Path, curve: list[float], pixels: np.ndarray, labels: np.ndarray, read: np.ndarray,
         norms: np.ndarray) -> None:
    """The loss curve, and the misread digits with the largest gradients."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    wrong = np.flatnonzero(read != labels)
    wrong = wrong[np.argsort(-norms[wrong])][:10]
    figure = plt.figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=[1, 1.3])
    axes = left.subplots()
    axes.semilogy(range(1, len(curve) + 1), curve)
    axes.set(xlabel="epoch", ylabel="mean cross entropy", title="training loss")
    right.suptitle("misread digits of the held-out fifth")
    for place, axes in enumerate(right.subplots(2, 5).flat):
        axes.axis("off")
        if place < len(wrong):
            i = wrong[place]
            axes.imshow(pixels[i].reshape(8, 8), cmap="gray_r")
            axes.set_title(f"{labels[i]} read as {read[i]}", fontsize=9)
    figure.savefig(path, dpi=120)


def main(argv: list[str] | None = None) -> float:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--out", type=Path, default=Path("digits.png"), help="where the picture goes")
    parser.add_argument("--no-picture", action="store_true")
    parser.add_argument("--quick", action="store_true", help="a few epochs, and no picture")
    args = parser.parse_args(argv)
    if args.quick:
        args.epochs, args.no_picture = 5, True
    pixels, labels, test_pixels, test_labels = split_data()
    params = initial_parameters(np.random.default_rng(2), (64, 128, 10))
    show_programs(params, pixels[:64], labels[:64])
    print()
    params, curve = train(params, pixels, labels, args.epochs)
    read = np.asarray(predictions(params, test_pixels))
    accuracy = float(np.mean(read == test_labels))
    norms = np.asarray(gradient_norms(params, test_pixels, test_labels))
    print(f"held-out accuracy: {accuracy:.2%} ({np.sum(read != test_labels)} of {len(test_labels)} misread)")
    right, wrong = norms[read == test_labels], norms[read != test_labels]
    print(f"gradient norm of an example: median {np.median(norms):.2g}; {np.median(right):.2g} where read rightly, "
          f"{np.median(wrong) if wrong.size else float('nan'):.2g} where misread")
    if not args.no_picture:
        draw(args.out, curve, test_pixels, test_labels, read, norms)
        print(f"wrote {args.out}")
    return accuracy


if __name__ == "__main__":
    main()
