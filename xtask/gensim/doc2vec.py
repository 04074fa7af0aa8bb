"""Trains Gensim's Doc2Vec on a corpus and says how long it took, and how well
perturbed copies find their originals. What `cargo xtask doc2vec` compares
with; run in an environment that has gensim 4 and numpy.

The corpus has a document per line, words separated by spaces. The last
`--copies` documents are perturbed copies of the first ones, in order.

Documents in memory and documents read from the file by Gensim's own threads
are two ways in; `--way` says which. The clock covers training alone, without
the scan of the vocabulary.
"""

import argparse
import json
import time

import gensim
import numpy
from gensim.models.doc2vec import Doc2Vec, TaggedDocument


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus")
    parser.add_argument("--way", choices=["memory", "file"], required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--copies", type=int, required=True)
    parser.add_argument("--window", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args()

    with open(options.corpus) as file:
        documents = [TaggedDocument(line.split(), [i]) for i, line in enumerate(file)]
    source = {"corpus_file": options.corpus}
    if options.way == "memory":
        source = {"corpus_iterable": documents}

    model = Doc2Vec(
        dm=1, vector_size=100, window=options.window, alpha=0.05, min_alpha=0.0001,
        epochs=20, negative=5, sample=1e-3, min_count=1, dm_mean=1,
        workers=options.threads, seed=options.seed,
    )
    model.build_vocab(**source)
    started, cpu = time.perf_counter(), time.process_time()
    model.train(
        **source, total_examples=model.corpus_count,
        total_words=model.corpus_total_words, epochs=model.epochs,
    )
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu

    vectors = model.dv.vectors[: len(documents)].astype(numpy.float32)
    print(json.dumps({
        "version": gensim.__version__,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "found": found(vectors, options.copies),
    }))


def found(vectors, copies):
    """How many of the last vectors have their original as nearest neighbour."""
    unit = vectors / numpy.maximum(numpy.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)
    originals = len(unit) - copies
    hits = 0
    for copy in range(copies):
        similarity = unit @ unit[originals + copy]
        similarity[originals + copy] = -2
        hits += int(similarity.argmax() == copy)
    return hits


if __name__ == "__main__":
    main()
