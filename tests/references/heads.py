"""What heads look at, by plain loops in float64."""


def matrix_product(A, B):
    return [[sum(A[i][k] * B[k][j] for k in range(len(B))) for j in range(len(B[0]))] for i in range(len(A))]


def rollout(attention, residual=True):
    """attention [layer][head][query][key] to one matrix a layer; Abnar and Zuidema 2020, equation 1."""
    matrices, product = [], None
    for heads in attention:
        n = len(heads[0])
        mean = [[sum(head[i][j] for head in heads) / len(heads) for j in range(n)] for i in range(n)]
        if residual:
            mean = [[0.5 * mean[i][j] + (0.5 if i == j else 0.0) for j in range(n)] for i in range(n)]
        product = mean if product is None else matrix_product(mean, product)
        matrices.append(product)
    return matrices


def mean_look(attention, links, kind):
    """attention [query][key] of one head over end-of-text and words; links as `world.links` gives them."""
    found = []
    for word, source, link in links:
        if link == kind:
            tokens_before_the_word = word + 1  # end-of-text and the words before it
            found.append(attention[tokens_before_the_word - 1][source + 1])
    return sum(found) / len(found)
