# The policy: a decoder of the Llama kind, its log-probabilities, its optimizer and its decode step.
#
# TorchScript source in the dialect of saved modules, packed into an archive by ProgramArchive.
# It holds no weights: every method takes them as arguments, in the order of DecoderLayout.
#
#   W   weights: embedding; per layer input norm, q, k, v, o, q norm, k norm, post-attention norm,
#       gate, up, down, q bias, k bias, v bias; final norm; with adapters, for every weight up to
#       there A [rank, in] and B [out, rank], then their scale; at the end the output matrix (the
#       embedding again when they are tied). What there is not is an empty tensor.
#   J   weights for sampling, see join
#   R   rotary tables: cosines and sines, [context, head_dim / 2]
#   G   sizes: 0 layers, 1 heads, 2 kv heads, 3 head_dim; and of the family, 0 or 1: 4 whether heads
#       are normed, 5 whether queries, keys and values have biases; 6 whether W has adapters; 7 the
#       data type that matrices are multiplied in; 8 whether R is elsewhere than in the host's memory;
#       9 what the rows of each product of a decode step are a multiple of, rows of zeros included
#   KV  caches, pool after pool: keys, values of layer 0, of layer 1, ...; each [slots, k, room, d]
#
# Shapes in comments: P heads of T positions, B continuations of C, N tokens of the loss, n rows of
# the decode batch, h query heads, k kv heads, d head_dim, V vocabulary. Data type numbers: 4 int64,
# 6 float32, 7 float64, 15 bfloat16.
#
# What Java writes and reads is in the memory of the host; everything else is where R is. On the
# processor and in float32 no copy is made for either, nor asked for: even a copy that turns out not
# to be needed costs a tiny model a twentieth of a decode step.

# Integers of the host, where the rotary tables are.
def here(R: List[Tensor], x: Tensor) -> Tensor:
  return torch.to(x, R[0].device, 4)

# x over its root mean square, times w. In float32 by the norm, whose gradient takes fewer passes
# over x than that of the library's rms_norm.
def rms(x: Tensor, w: Tensor, eps: float) -> Tensor:
  if x.dtype != 6:
    return torch.rms_norm(x, [x.size(-1)], w, eps)
  norm = torch.linalg_vector_norm(x, 2, [-1], True)
  return x * torch.rsqrt(torch.square(norm) / x.size(-1) + eps) * w

# x [..., heads, d]; the tables [..., 1, d] of lay_out broadcast over heads. Hugging Face's
# convention: the two halves of a head are the two coordinates of its rotations.
def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
  return x * cos + torch.roll(x, [x.size(-1) // 2], [-1]) * sin

# Where the weights of layer l begin in W.
def layer(l: int) -> int:
  return 1 + 14 * l

# Adapter i of the weights, which is w, where and in what the program computes with it; gradients go
# through. The scale of adapters goes into their B while that is in float32: rounded by itself, it
# would be off by the same part for all of them.
def placed_adapter(w: Tensor, i: int, scale: Tensor, R: List[Tensor], G: List[int]) -> Tensor:
  if G[7] == 6:
    return w
  if i % 2 == 1:
    w = w * scale
  return torch.to(w, R[0].device, G[7])

# Weights where and in what the program computes with them; gradients go through.
def placed_weights(W: List[Tensor], R: List[Tensor], G: List[int]) -> List[Tensor]:
  if G[7] == 6:
    return W
  C = annotate(List[Tensor], [])
  adapters = __torch__.layer(G[0]) + 1
  scale = torch.len(W) - 2
  for i in range(torch.len(W)):
    w = W[i]
    if G[6] != 0:
      if i == scale:
        w = torch.full([1], 1., dtype=6)
      elif i >= adapters:
        if i < scale:
          w = __torch__.placed_adapter(w, i - adapters, W[scale], R, G)
    C.append(torch.to(w, R[0].device, G[7]))
  return C

# x times the matrix W[i], plus the bias W[bias] unless that is 0, plus what a low-rank adapter adds
# (Hu et al. 2021, LoRA): x A^T B^T times alpha / rank.
def dense(W: List[Tensor], G: List[int], i: int, bias: int, x: Tensor) -> Tensor:
  if bias != 0:
    y = torch.linear(x, W[i], W[bias])
  else:
    y = torch.linear(x, W[i])
  if G[6] != 0:
    j = __torch__.layer(G[0]) + 1 + 2 * i
    if torch.numel(W[j]) > 0:
      y = y + torch.linear(torch.linear(x, W[j]) * W[-2], W[j + 1])
  return y

# x [..., hidden] to queries [..., h, d], keys and values [..., k, d] of the layer at W[w].
def project(W: List[Tensor], w: int, G: List[int], eps: float, cos: Tensor, sin: Tensor, x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
  y = __torch__.rms(x, W[w], eps)
  bias = (w + 11) * G[5]
  q = torch.unflatten(__torch__.dense(W, G, w + 1, bias, y), -1, [G[1], G[3]])
  k = torch.unflatten(__torch__.dense(W, G, w + 2, bias + G[5], y), -1, [G[2], G[3]])
  v = torch.unflatten(__torch__.dense(W, G, w + 3, bias + 2 * G[5], y), -1, [G[2], G[3]])
  if G[4] != 0:
    q = __torch__.rms(q, W[w + 5], eps)
    k = __torch__.rms(k, W[w + 6], eps)
  return (__torch__.rotate(q, cos, sin), __torch__.rotate(k, cos, sin), v)

# The rest of a layer: x [..., hidden] the residual stream, a [..., h * d] what attention gathered.
def finish(W: List[Tensor], w: int, G: List[int], eps: float, x: Tensor, a: Tensor) -> Tensor:
  x = x + __torch__.dense(W, G, w + 4, 0, a)
  y = __torch__.rms(x, W[w + 7], eps)
  z = torch.silu(__torch__.dense(W, G, w + 8, 0, y)) * __torch__.dense(W, G, w + 9, 0, y)
  return x + __torch__.dense(W, G, w + 10, 0, z)

# Keys or values [B, T, k, d], any B and T, to [B, h, T, d]: each serves h / k query heads.
def spread(x: Tensor, G: List[int]) -> Tensor:
  B, T = x.size(0), x.size(1)
  y = x.transpose(1, 2)
  if G[1] == G[2]:
    return y
  return y.unsqueeze(2).expand([B, G[2], G[1] // G[2], T, G[3]]).reshape([B, G[1], T, G[3]])

# Which keys a continuation's positions see, [B, 1, C, T + C]: the whole of its head, and of itself
# what is not ahead.
def visible(length: Tensor, owner: Tensor, T: int, C: int) -> Tensor:
  device = length.device
  head = torch.lt(torch.arange(T, dtype=4, device=device), torch.index_select(length, 0, owner).unsqueeze(1))
  steps = torch.arange(C, dtype=4, device=device)
  own = torch.le(steps, steps.unsqueeze(1))
  B = owner.size(0)
  return torch.cat([head.unsqueeze(1).expand([B, C, T]), own.unsqueeze(0).expand([B, C, C])], -1).unsqueeze(1)

# Keys or values of heads x [P, T, k, d] and continuations y [B * C, k, d], as continuations see
# them: [B, h, T + C, d].
def gather(x: Tensor, y: Tensor, owner: Tensor, G: List[int], C: int) -> Tensor:
  own = torch.unflatten(y, 0, [owner.size(0), C])
  return __torch__.spread(torch.cat([torch.index_select(x, 0, owner), own], 1), G)

# Sequences as a tree of depth two: heads ids [P, T] of length [P] tokens, and continuations tail
# [B, C] of the head owner [B] tells; all padded on the right, and C may be 0. A prompt is thus
# computed once for all its completions. Returns, of their P * T + B * C positions, the tokens and
# the rows of the rotary tables, signed for both halves of a head; what continuations see; and
# owner, where R is.
def lay_out(R: List[Tensor], G: List[int], ids: Tensor, length: Tensor, tail: Tensor, owner: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
  if G[8] != 0:
    ids = __torch__.here(R, ids)
    length = __torch__.here(R, length)
    tail = __torch__.here(R, tail)
    owner = __torch__.here(R, owner)
  P, T, C = ids.size(0), ids.size(1), tail.size(1)
  cos = torch.slice(R[0], 0, 0, T).unsqueeze(1).repeat([P, 1, 1])
  sin = torch.slice(R[1], 0, 0, T).unsqueeze(1).repeat([P, 1, 1])
  tokens = torch.flatten(ids)
  seen = ids
  if C > 0:
    # Padding may lie past the tables; what stands there is never looked at.
    place = torch.index_select(length, 0, owner).unsqueeze(1) + torch.arange(C, dtype=4, device=ids.device)
    place = torch.clamp(torch.flatten(place), None, R[0].size(0) - 1)
    cos = torch.cat([cos, torch.index_select(R[0], 0, place).unsqueeze(1)])
    sin = torch.cat([sin, torch.index_select(R[1], 0, place).unsqueeze(1)])
    tokens = torch.cat([tokens, torch.flatten(tail)])
    seen = __torch__.visible(length, owner, T, C)
  cos = torch.cat([cos, cos], -1)
  sin = torch.cat([torch.neg(sin), sin], -1)
  if G[7] != 6:
    cos = torch.to(cos, G[7])
    sin = torch.to(sin, G[7])
  return (tokens, cos, sin, seen, owner)

# What attention of layer l gathers at the positions of such a tree, [P * T + B * C, h * d], from x
# [P * T + B * C, hidden]. The keys and values [P, T, k * d] of the heads go into KV.
def gathered(W: List[Tensor], l: int, G: List[int], eps: float, cos: Tensor, sin: Tensor, seen: Tensor, owner: Tensor, P: int, T: int, C: int, x: Tensor, KV: List[Tensor]) -> Tensor:
  w = __torch__.layer(l)
  m = P * T
  q, k, v = __torch__.project(W, w, G, eps, cos, sin, x)
  queries, keys, values = q, k, v
  if C > 0:
    # Not where it is all of them: the gradient of a slice is copied into zeros.
    queries = torch.slice(q, 0, 0, m)
    keys = torch.slice(k, 0, 0, m)
    values = torch.slice(v, 0, 0, m)
  queries = torch.unflatten(queries, 0, [P, T]).transpose(1, 2)
  keys = torch.unflatten(keys, 0, [P, T])
  values = torch.unflatten(values, 0, [P, T])
  a = torch.scaled_dot_product_attention(queries, __torch__.spread(keys, G), __torch__.spread(values, G), None, 0., True)
  a = a.transpose(1, 2).reshape([m, -1])
  if C > 0:
    queries = torch.unflatten(torch.slice(q, 0, m), 0, [owner.size(0), C]).transpose(1, 2)
    b = torch.scaled_dot_product_attention(queries, __torch__.gather(keys, torch.slice(k, 0, m), owner, G, C), __torch__.gather(values, torch.slice(v, 0, m), owner, G, C), seen, 0., False)
    a = torch.cat([a, b.transpose(1, 2).reshape([owner.size(0) * C, -1])])
  KV.append(torch.flatten(keys, 2))
  KV.append(torch.flatten(values, 2))
  return a

# Layer l over the positions of such a tree.
def block(W: List[Tensor], l: int, G: List[int], eps: float, cos: Tensor, sin: Tensor, seen: Tensor, owner: Tensor, P: int, T: int, C: int, x: Tensor, KV: List[Tensor]) -> Tensor:
  a = __torch__.gathered(W, l, G, eps, cos, sin, seen, owner, P, T, C, x, KV)
  return __torch__.finish(W, __torch__.layer(l), G, eps, x, a)

# Puts leaves into V in the place of weights first to last of P, which are W where the program
# computes with them, as far as these are trained: their gradients go to D then.
def leaves_in(W: List[Tensor], P: List[Tensor], R: List[Tensor], G: List[int], D: List[Tensor], first: int, last: int, V: List[Tensor], leaves: List[Tensor], places: List[int]) -> int:
  adapters = __torch__.layer(G[0]) + 1
  for i in range(last - first):
    n = first + i
    J = [n]
    if G[6] != 0:
      J.append(adapters + 2 * n)
      J.append(adapters + 2 * n + 1)
    for h in range(torch.len(J)):
      j = J[h]
      if torch.numel(D[j]) > 0:
        leaf = W[j].detach().requires_grad_(True)
        leaves.append(leaf)
        places.append(j)
        if j >= adapters:
          leaf = __torch__.placed_adapter(leaf, j - adapters, W[-2], R, G)
        torch._set_item(V, j, leaf)
  return 0

# Adds the gradients of such leaves to D.
def take_leaves(leaves: List[Tensor], places: List[int], D: List[Tensor]) -> int:
  for j in range(torch.len(leaves)):
    torch.add_(D[places[j]], ops.prim.grad(leaves[j]))
  return 0

# Adds the gradients of what finish reads of layer l to D, for a third of the rows at a time, in
# whole tiles, but 2,048 at least: a row's graph is of no other row, and that of all rows would be
# larger than the one of attention. The gradient g of what finish returns becomes that by x in its place; the one by a is returned.
def finish_backward(W: List[Tensor], P: List[Tensor], R: List[Tensor], G: List[int], eps: float, l: int, x: Tensor, a: Tensor, g: Tensor, D: List[Tensor]) -> Tensor:
  w = __torch__.layer(l)
  n = x.size(0)
  rows = ((n + 2) // 3 + 127) // 128 * 128
  if rows < 2048:
    rows = 2048
  down = torch.empty_like(a)
  for i in range((n + rows - 1) // rows):
    V = torch.list(P)
    leaves = annotate(List[Tensor], [])
    places = annotate(List[int], [])
    __torch__.leaves_in(W, P, R, G, D, w + 4, w + 5, V, leaves, places)
    __torch__.leaves_in(W, P, R, G, D, w + 7, w + 11, V, leaves, places)
    stream = torch.slice(x, 0, i * rows, (i + 1) * rows).detach().requires_grad_(True)
    heads = torch.slice(a, 0, i * rows, (i + 1) * rows).detach().requires_grad_(True)
    above = torch.slice(g, 0, i * rows, (i + 1) * rows)
    __torch__.finish(V, w, G, eps, stream, heads).backward(above)
    torch.copy_(above, ops.prim.grad(stream))
    torch.copy_(torch.slice(down, 0, i * rows, (i + 1) * rows), ops.prim.grad(heads))
    __torch__.take_leaves(leaves, places, D)
  return down

# The normed hidden states [P * T + B * C, hidden] of such a tree, with weights that are placed.
def forward(W: List[Tensor], R: List[Tensor], G: List[int], eps: float, ids: Tensor, length: Tensor, tail: Tensor, owner: Tensor, KV: List[Tensor]) -> Tensor:
  tokens, cos, sin, seen, owner = __torch__.lay_out(R, G, ids, length, tail, owner)
  x = torch.embedding(W[0], tokens)
  for l in range(G[0]):
    x = __torch__.block(W, l, G, eps, cos, sin, seen, owner, ids.size(0), ids.size(1), tail.size(1), x, KV)
  return __torch__.rms(x, W[__torch__.layer(G[0])], eps)

# The normed hidden states [N, hidden] at the positions at [N], with weights that are placed. They
# are computed, unless all of them stand in the place of ids.
def states_at(W: List[Tensor], R: List[Tensor], G: List[int], eps: float, ids: Tensor, length: Tensor, tail: Tensor, owner: Tensor, at: Tensor) -> Tensor:
  if torch.is_floating_point(ids):
    x = ids
  else:
    x = __torch__.forward(W, R, G, eps, ids, length, tail, owner, annotate(List[Tensor], []))
  return torch.index_select(x, 0, __torch__.here(R, at))

# Logits [N, V] of what follows the positions at [N].
def logits_at(W: List[Tensor], R: List[Tensor], G: List[int], eps: float, ids: Tensor, length: Tensor, tail: Tensor, owner: Tensor, at: Tensor) -> Tensor:
  W = __torch__.placed_weights(W, R, G)
  return torch.to(torch.linear(__torch__.states_at(W, R, G, eps, ids, length, tail, owner, at), W[-1]), 6)

# Their log-probabilities [N, V].
def log_softmax_at(W: List[Tensor], R: List[Tensor], G: List[int], eps: float, ids: Tensor, length: Tensor, tail: Tensor, owner: Tensor, at: Tensor, temperature: float) -> Tensor:
  return __torch__.heated(__torch__.logits_at(W, R, G, eps, ids, length, tail, owner, at), temperature)

# Log-probabilities of logits.
def heated(logits: Tensor, temperature: float) -> Tensor:
  if temperature != 1.:
    logits = logits / temperature
  return torch.log_softmax(logits, -1)

# Log-probabilities [rows, V] of what follows states x [rows, hidden], with an output matrix that is
# placed.
def part_log_softmax(w: Tensor, x: Tensor, temperature: float) -> Tensor:
  return __torch__.heated(torch.to(torch.linear(x, w), 6), temperature)

# The entropy of log-probabilities, without a graph.
def entropy_of(logp: Tensor) -> Tensor:
  p = logp.detach()
  return torch.neg(torch.sum(torch.mul_(torch.exp(p), p), -1))

# What a loss reads of log-probabilities logp [N, V], with a graph: those of the tokens token [N, K],
# and behind them the entropy if bonus is 1.
def scores_of(logp: Tensor, token: Tensor, bonus: int) -> Tensor:
  chosen = torch.gather(logp, 1, token)
  if bonus == 1:
    chosen = torch.cat([chosen, torch.neg(torch.sum(torch.exp(logp) * logp, -1, True))], 1)
  return chosen

# The gradient by the logits, in the place of logp, of such scores whose gradient is g: a score is
# a logit less the logarithm of all their exponentials, and the entropy is -sum(p log p).
def by_logit(logp: Tensor, token: Tensor, bonus: int, g: Tensor, temperature: float) -> Tensor:
  K = token.size(1)
  chosen = torch.slice(g, 1, 0, K)
  total = torch.sum(chosen, 1, True)
  if bonus == 1:
    p = torch.exp(logp)
    entropy = torch.neg(torch.sum(p * logp, -1, True))
    d = torch.neg_(torch.mul_(torch.add_(torch.mul_(torch.add_(logp, entropy), torch.slice(g, 1, K)), total), p))
  else:
    d = torch.mul_(torch.exp_(logp), torch.neg(total))
  torch.scatter_add_(d, 1, token, chosen)
  if temperature != 1.:
    torch.div_(d, temperature)
  return d

# Where layer l begins in J.
def joined_layer(l: int) -> int:
  return 5 + 6 * l

# Tensors where and in what the program computes with them.
def settled(J: List[Tensor], R: List[Tensor], G: List[int]) -> List[Tensor]:
  C = annotate(List[Tensor], [])
  for i in range(torch.len(J)):
    C.append(torch.to(J[i], R[0].device, G[7]))
  return C

# J from W, part by part, so that never more of W is in memory beside J. A step of a small decoder
# costs what its operations cost, not what they compute, so J leaves few: matrices that are applied
# to the same numbers are one, and the norms before a matrix are multiplied into it, with what unit
# leaves out. J: the embedding; rotary cosines and sines [context, 1, d], signed for both halves of
# a head; what unit takes for a hidden state and for a head; then the layers; at the end the final
# norm and the output matrix, W's last two. The layers' matrices are [in, out].
def join_start(embedding: Tensor, R: List[Tensor], G: List[int], eps: float) -> List[Tensor]:
  J = [embedding, torch.cat([R[0], R[0]], -1).unsqueeze(1), torch.cat([torch.neg(R[1]), R[1]], -1).unsqueeze(1)]
  J.append(torch.full([], (eps * embedding.size(1)) ** 0.5, dtype=6))
  J.append(torch.full([], (eps * G[3]) ** 0.5, dtype=6))
  return __torch__.settled(J, R, G)

# A layer of J from that of W: q, k, v; their bias; the norms of heads [h + k, d]; o; gate, up; down.
def join_layer(W: List[Tensor], R: List[Tensor], G: List[int]) -> List[Tensor]:
  across, along = 1., 1.
  if G[7] == 6:
    across = W[0].size(0) ** 0.5
    along = G[3] ** 0.5
  J = [(torch.cat([W[1], W[2], W[3]]) * (W[0] * across)).t()]
  bias, heads = W[11], W[5]
  if G[5] != 0:
    bias = torch.cat([bias, W[12], W[13]])
  if G[4] != 0:
    heads = torch.cat([heads.expand([G[1], G[3]]), W[6].expand([G[2], G[3]])]) * along
  J.append(bias)
  J.append(heads)
  J.append(W[4].t())
  J.append((torch.cat([W[8], W[9]]) * (W[7] * across)).t())
  J.append(W[10].t())
  return __torch__.settled(J, R, G)

# x over its root mean square, in float32 without the root of how many numbers that is of.
def unit(x: Tensor, floor: Tensor, G: List[int], eps: float) -> Tensor:
  if G[7] == 6:
    return x / torch.hypot(torch.linalg_vector_norm(x, 2, [-1], True), floor)
  return torch.rms_norm(x, [x.size(-1)], None, eps)

# What project does, with the layer at J[w].
def project_joined(J: List[Tensor], w: int, G: List[int], eps: float, cos: Tensor, sin: Tensor, x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
  y = __torch__.unit(x, J[3], G, eps)
  if G[5] != 0:
    y = torch.addmm(J[w + 1], y, J[w])
  else:
    y = torch.mm(y, J[w])
  y = y.view([-1, G[1] + 2 * G[2], G[3]])
  t = torch.slice(y, 1, 0, G[1] + G[2])
  if G[4] != 0:
    t = __torch__.unit(t, J[4], G, eps) * J[w + 2]
  t = torch.addcmul(t * cos, torch.roll(t, [G[3] // 2], [-1]), sin)
  return (torch.slice(t, 1, 0, G[1]), torch.slice(t, 1, G[1]), torch.slice(y, 1, G[1] + G[2]))

# What finish does, with the layer at J[w].
def finish_joined(J: List[Tensor], w: int, G: List[int], eps: float, x: Tensor, a: Tensor) -> Tensor:
  x = torch.addmm(x, a, J[w + 3])
  gate, up = torch.chunk(torch.mm(__torch__.unit(x, J[3], G, eps), J[w + 4]), 2, -1)
  return torch.addmm(x, torch.silu(gate) * up, J[w + 5])

# The number of rows to add to n rows.
def missing(G: List[int], n: int) -> int:
  return (G[9] - n % G[9]) % G[9]

# x [n, ...] with rows of zeros up to a multiple of G[9].
def filled(G: List[int], x: Tensor) -> Tensor:
  rows = __torch__.missing(G, x.size(0))
  if rows == 0:
    return x
  return torch.cat([x, torch.zeros([rows] + x.size()[1:], dtype=x.dtype, device=x.device)])

# The hidden states [P * T, hidden] of sequences ids [P, T]; their keys and values [P, T, k, d] go
# into KV.
def read(J: List[Tensor], G: List[int], eps: float, ids: Tensor, KV: List[Tensor]) -> Tensor:
  P, T = ids.size(0), ids.size(1)
  cos = torch.slice(J[1], 0, 0, T).repeat([P, 1, 1])
  sin = torch.slice(J[2], 0, 0, T).repeat([P, 1, 1])
  x = torch.embedding(J[0], torch.flatten(ids))
  for l in range(G[0]):
    w = __torch__.joined_layer(l)
    q, k, v = __torch__.project_joined(J, w, G, eps, cos, sin, x)
    queries = torch.unflatten(q, 0, [P, T]).transpose(1, 2)
    keys = torch.unflatten(k, 0, [P, T])
    values = torch.unflatten(v, 0, [P, T])
    a = torch.scaled_dot_product_attention(queries, __torch__.spread(keys, G), __torch__.spread(values, G), None, 0., True)
    x = __torch__.finish_joined(J, w, G, eps, x, a.transpose(1, 2).reshape([P * T, -1]))
    KV.append(keys)
    KV.append(values)
  return x

# Where n rows of a batch keep their settings: I[2] whether greedy, I[3] top-k; F[0] uniform number,
# F[1] temperature, F[2] top-p, F[3] log of min-p, F[4] repetition penalty.
#
# One token a row: the inverse of the cumulative distribution at u, or the most probable token where
# the row is greedy. Float64 sums: a float32 one over a large vocabulary misses its tail. Returns
# tokens and their log-probabilities [2, n], float64. flags: 1 some row is greedy; 2 some row is
# truncated or penalised or wants bare log-probabilities, which makes it [3, n]; 4 some row's
# temperature is not 1.
def sample(logits: Tensor, I: Tensor, F: Tensor, n: int, flags: int, held: Tensor) -> Tensor:
  u = torch.slice(F[0], 0, 0, n).unsqueeze(1)
  temperature = torch.to(torch.slice(F[1], 0, 0, n), 6).unsqueeze(1)
  if (flags & 2) != 0:
    return __torch__.sample_filtered(logits, u, temperature, I, F, n, held)
  scaled = logits
  if (flags & 4) != 0:
    scaled = logits / temperature
  logp = torch.log_softmax(scaled, -1)
  mass = torch.cumsum(torch.exp(torch.to(logp, 7)), -1)
  token = torch.searchsorted(mass, u * torch.slice(mass, 1, -1), right=True)
  token = torch.clamp(token, 0, logits.size(-1) - 1)
  if (flags & 1) != 0:
    greedy = torch.ne(torch.slice(I[2], 0, 0, n), 0).unsqueeze(1)
    token = torch.where(greedy, torch.argmax(logits, -1, True), token)
  return torch.cat([torch.to(token, 7), torch.to(torch.gather(logp, 1, token), 7)], 1).t().contiguous()

# The same from what SamplingSettings leaves of the distribution, whose samples equal sample's where
# that is all of it. held [n, S] are the ids that each row holds, repeated to fill it; S may be 0.
def sample_filtered(logits: Tensor, u: Tensor, temperature: Tensor, I: Tensor, F: Tensor, n: int, held: Tensor) -> Tensor:
  bare = torch.log_softmax(logits, -1)
  if held.size(1) > 0:
    penalty = torch.to(torch.slice(F[4], 0, 0, n), 6).unsqueeze(1)
    there = torch.gather(logits, 1, held)
    logits = torch.scatter(logits, 1, held, torch.where(there < 0., there * penalty, there / penalty))
  logp = torch.to(torch.log_softmax(logits / temperature, -1), 7)
  ranked, ids = torch.sort(logp, stable=True, dim=-1, descending=True)
  rank = torch.arange(logits.size(-1), dtype=4, device=logits.device)
  floor = torch.slice(ranked, 1, 0, 1) + torch.slice(F[3], 0, 0, n).unsqueeze(1)
  kept = torch.logical_and(torch.lt(rank, torch.slice(I[3], 0, 0, n).unsqueeze(1)), torch.ge(ranked, floor))
  share = torch.exp(ranked) * torch.to(kept, 7)
  before = torch.cumsum(share, -1) - share
  top_p = torch.slice(F[2], 0, 0, n).unsqueeze(1)
  within = torch.logical_or(torch.ge(top_p, 1.), torch.lt(before, top_p * torch.sum(share, -1, True)))
  kept = torch.logical_and(kept, within)
  whole = torch.all(kept, -1, True)
  kept = torch.scatter(torch.zeros_like(kept), 1, ids, kept)
  mass = torch.cumsum(torch.exp(logp) * torch.to(kept, 7), -1)
  total = torch.slice(mass, 1, -1)
  # Rounding must not lift the number to the total, behind which there is no token to sample.
  token = torch.searchsorted(mass, torch.minimum(u * total, total * (1. - 2.5e-16)), right=True)
  token = torch.clamp(token, 0, logits.size(-1) - 1)
  greedy = torch.ne(torch.slice(I[2], 0, 0, n), 0).unsqueeze(1)
  token = torch.where(greedy, torch.argmax(logits, -1, True), token)
  score = torch.gather(logp, 1, token) - torch.where(torch.logical_or(whole, greedy), torch.zeros_like(total), torch.log(total))
  return torch.cat([torch.to(token, 7), score, torch.to(torch.gather(bare, 1, token), 7)], 1).t().contiguous()

# What sample returns, on the host; F and held come from there.
def sampled(R: List[Tensor], G: List[int], logits: Tensor, I: Tensor, F: Tensor, n: int, flags: int, held: Tensor) -> Tensor:
  if G[7] != 6:
    logits = torch.to(logits, 6)
  if G[8] == 0:
    return __torch__.sample(logits, I, F, n, flags, held)
  return torch.cpu(__torch__.sample(logits, I, torch.to(F, R[0].device, 7), n, flags, __torch__.here(R, held)))

class K(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool

  # Logits [N, V] of what follows the positions at [N].
  def logits(self: __torch__.K, W: List[Tensor], R: List[Tensor], G: List[int], eps: float, ids: Tensor, length: Tensor, tail: Tensor, owner: Tensor, at: Tensor) -> Tensor:
    return torch.cpu(__torch__.logits_at(W, R, G, eps, ids, length, tail, owner, at))

  # Log-probabilities [N, K] of the tokens token [N, K] after the positions at [N], and one column
  # more, their entropy, if bonus is 1, which carry the gradient; and the entropy [N] there, which
  # does not. What the loss makes of them is core's.
  def log_probs(self: __torch__.K, W: List[Tensor], R: List[Tensor], G: List[int], eps: float, ids: Tensor, length: Tensor, tail: Tensor, owner: Tensor, at: Tensor, token: Tensor, temperature: float, bonus: int) -> List[Tensor]:
    logp = __torch__.log_softmax_at(W, R, G, eps, ids, length, tail, owner, at, temperature)
    entropy = __torch__.entropy_of(logp)
    return [torch.cpu(__torch__.scores_of(logp, __torch__.here(R, token), bonus)), torch.cpu(entropy)]

  # The states [N, hidden] whose logits are too many to be held at once.
  def states(self: __torch__.K, W: List[Tensor], R: List[Tensor], G: List[int], eps: float, ids: Tensor, length: Tensor, tail: Tensor, owner: Tensor, at: Tensor) -> Tensor:
    return __torch__.states_at(__torch__.placed_weights(W, R, G), R, G, eps, ids, length, tail, owner, at)

  # What log_probs says of such states x, for rows of them at a time. Called without gradients.
  def part_log_probs(self: __torch__.K, W: List[Tensor], R: List[Tensor], G: List[int], eps: float, x: Tensor, rows: int, temperature: float, token: Tensor, bonus: int) -> List[Tensor]:
    w = torch.to(W[-1], R[0].device, G[7])
    token = __torch__.here(R, token)
    values = annotate(List[Tensor], [])
    entropies = annotate(List[Tensor], [])
    for i in range((x.size(0) + rows - 1) // rows):
      logp = __torch__.part_log_softmax(w, torch.slice(x, 0, i * rows, (i + 1) * rows), temperature)
      values.append(__torch__.scores_of(logp, torch.slice(token, 0, i * rows, (i + 1) * rows), bonus))
      entropies.append(__torch__.entropy_of(logp))
    return [torch.cpu(torch.cat(values)), torch.cpu(torch.cat(entropies))]

  # Computes them a second time, part by part, to carry the gradient g [N, K], or [N, K + 1] if bonus
  # is 1, of these scores to the states [N, hidden], whose gradient it returns, and to the output
  # matrix, unless that is not trained: the last of D is empty then. Each part adds its own to D, in
  # float32 whatever W is in, so that there is never more than one beside D. No part has a graph,
  # which would hold three times its logits.
  def part_backward(self: __torch__.K, W: List[Tensor], R: List[Tensor], G: List[int], eps: float, x: Tensor, rows: int, temperature: float, token: Tensor, bonus: int, g: Tensor, D: List[Tensor]) -> Tensor:
    w = torch.to(W[-1], R[0].device, G[7]).detach()
    x = x.detach()
    token = __torch__.here(R, token)
    g = torch.to(g, R[0].device, 6)
    gradients = torch.empty_like(x)
    for i in range((x.size(0) + rows - 1) // rows):
      part = torch.slice(x, 0, i * rows, (i + 1) * rows)
      logp = __torch__.part_log_softmax(w, part, temperature)
      by_logit = torch.to(__torch__.by_logit(logp, torch.slice(token, 0, i * rows, (i + 1) * rows), bonus, torch.slice(g, 0, i * rows, (i + 1) * rows), temperature), G[7])
      torch.copy_(torch.slice(gradients, 0, i * rows, (i + 1) * rows), torch.mm(by_logit, w))
      if torch.numel(D[-1]) > 0:
        torch.add_(D[-1], torch.mm(by_logit.t(), part))
    return gradients

  # The most likely tokens after the positions at [N], count of them, and their log-probabilities,
  # [N, count] each.
  def top_k_log_probs(self: __torch__.K, W: List[Tensor], R: List[Tensor], G: List[int], eps: float, ids: Tensor, length: Tensor, tail: Tensor, owner: Tensor, at: Tensor, count: int, temperature: float) -> List[Tensor]:
    logp = __torch__.log_softmax_at(W, R, G, eps, ids, length, tail, owner, at, temperature)
    value, token = torch.topk(logp, count)
    return [torch.cpu(token), torch.cpu(value)]

  # The same of states x [N, hidden], for rows of them at a time.
  def part_top_k(self: __torch__.K, W: List[Tensor], R: List[Tensor], G: List[int], eps: float, x: Tensor, rows: int, temperature: float, count: int) -> List[Tensor]:
    w = torch.to(W[-1], R[0].device, G[7])
    tokens = annotate(List[Tensor], [])
    values = annotate(List[Tensor], [])
    for i in range((x.size(0) + rows - 1) // rows):
      value, token = torch.topk(__torch__.part_log_softmax(w, torch.slice(x, 0, i * rows, (i + 1) * rows), temperature), count)
      tokens.append(token)
      values.append(value)
    return [torch.cpu(torch.cat(tokens)), torch.cpu(torch.cat(values))]

  # The inputs of the layers above the first and the last one's output, [P * T + B * C, hidden] each:
  # all that a backward pass needs which computes the layers again. Called without gradients.
  def checkpoints(self: __torch__.K, W: List[Tensor], R: List[Tensor], G: List[int], eps: float, ids: Tensor, length: Tensor, tail: Tensor, owner: Tensor) -> List[Tensor]:
    tokens, cos, sin, seen, owner = __torch__.lay_out(R, G, ids, length, tail, owner)
    W = __torch__.placed_weights(W, R, G)
    X = annotate(List[Tensor], [])
    x = torch.embedding(W[0], tokens)
    for l in range(G[0]):
      x = __torch__.block(W, l, G, eps, cos, sin, seen, owner, ids.size(0), ids.size(1), tail.size(1), x, annotate(List[Tensor], []))
      X.append(x)
    return X

  # The normed hidden states of the last of the checkpoints, with a graph down to that one.
  def final_hidden(self: __torch__.K, W: List[Tensor], R: List[Tensor], G: List[int], eps: float, x: Tensor) -> Tensor:
    return __torch__.rms(x, __torch__.placed_weights(W, R, G)[__torch__.layer(G[0])], eps)

  # Adds the gradients of the weights below the last checkpoint, whose own gradient g is known, to D:
  # float32 tensors in the order of W, empty for a weight that is not trained. Layer by layer from
  # the top, each is computed again with a graph that lives no longer than its turn (Chen et al.
  # 2016), and only then are its weights leaves. Empties X on the way, and writes over g.
  def backward_layers(self: __torch__.K, W: List[Tensor], R: List[Tensor], G: List[int], eps: float, ids: Tensor, length: Tensor, tail: Tensor, owner: Tensor, X: List[Tensor], g: Tensor, D: List[Tensor]) -> int:
    tokens, cos, sin, seen, owner = __torch__.lay_out(R, G, ids, length, tail, owner)
    P = __torch__.placed_weights(W, R, G)
    for i in range(G[0]):
      l = G[0] - 1 - i
      w = __torch__.layer(l)
      V = torch.list(P)
      leaves = annotate(List[Tensor], [])
      places = annotate(List[int], [])
      __torch__.leaves_in(W, P, R, G, D, w, w + 4, V, leaves, places)
      __torch__.leaves_in(W, P, R, G, D, w + 5, w + 7, V, leaves, places)
      __torch__.leaves_in(W, P, R, G, D, w + 11, w + 14, V, leaves, places)
      if l > 0:
        x = X.pop()
      else:
        x = torch.embedding(P[0], tokens)
      x = x.detach().requires_grad_(True)
      a = __torch__.gathered(V, l, G, eps, cos, sin, seen, owner, ids.size(0), ids.size(1), tail.size(1), x, annotate(List[Tensor], []))
      a.backward(__torch__.finish_backward(W, P, R, G, eps, l, x, a, g, D))
      torch.add_(g, ops.prim.grad(x))
      __torch__.take_leaves(leaves, places, D)
    if torch.numel(D[0]) > 0:
      g = torch.to(g, 6)
      if G[8] != 0:
        # By sorting, because the order of a GPU's additions by index differs from run to run.
        torch.index_put_(D[0], annotate(List[Optional[Tensor]], [tokens]), g, True)
      else:
        torch.index_add_(D[0], 0, tokens, g)
    return 0

  # Sets an array to zeros.
  def zero(self: __torch__.K, x: Tensor) -> int:
    torch.zero_(x)
    return 0

  # Takes the gradients of leaves L up into D: in place of what is there, or added to it.
  def take_gradients(self: __torch__.K, L: List[Tensor], D: List[Tensor], added: int) -> int:
    for i in range(torch.len(L)):
      if added != 0:
        torch.add_(D[i], ops.prim.grad(L[i]))
      else:
        torch.copy_(D[i], ops.prim.grad(L[i]))
    return 0

  # w plus what its adapter adds to it.
  def merged(self: __torch__.K, w: Tensor, a: Tensor, b: Tensor, scale: Tensor) -> Tensor:
    return w + torch.matmul(b, a) * scale

  # The sum of the squares of an array: in its own precision within a part, whose sum stays near its
  # terms, and in double precision over the parts. All whole parts are rows of one reduction.
  def squared_norm(self: __torch__.K, x: Tensor, part: int) -> List[float]:
    whole = x.size(0) // part
    norms = torch.to(torch.linalg_vector_norm(torch.slice(x, 0, 0, whole * part).view([whole, part]), 2, [1], False), 7)
    rest = torch.to(torch.norm(torch.slice(x, 0, whole * part)), 7)
    return [float(torch.sum(torch.square(norms)) + rest * rest)]

  # Step t of PyTorch's AdamW on flat arrays, or on the same range of each: float32 weights P, their
  # gradients G over divisor, moments M and V, at most one of each; then of those without weight
  # decay. The lists to be moved are arguments as they are: a write to the elements of a list made
  # here would be taken for one that nobody sees, and left out. The kernel writes scaled gradients
  # back, which costs a seventh of the step: so there is a scale only where there is one to apply.
  def adamw(self: __torch__.K, P: List[Tensor], G: List[Tensor], M: List[Tensor], V: List[Tensor], p: List[Tensor], g: List[Tensor], m: List[Tensor], v: List[Tensor], divisor: float, lr: float, beta1: float, beta2: float, eps: float, decay: float, t: int) -> int:
    none = annotate(List[Tensor], [])
    scale = annotate(Optional[Tensor], None)
    if torch.len(P) > 0:
      step = torch.full([], float(t), dtype=6, device=P[0].device)
      if divisor != 1.:
        scale = torch.full([], divisor, dtype=6, device=P[0].device)
      torch._fused_adamw_(P, G, M, V, none, [step], lr=lr, beta1=beta1, beta2=beta2, weight_decay=decay, eps=eps, amsgrad=False, maximize=False, grad_scale=scale, found_inf=None)
    if torch.len(p) > 0:
      step = torch.full([], float(t), dtype=6, device=p[0].device)
      if divisor != 1.:
        scale = torch.full([], divisor, dtype=6, device=p[0].device)
      torch._fused_adamw_(p, g, m, v, none, [step], lr=lr, beta1=beta1, beta2=beta2, weight_decay=0., eps=eps, amsgrad=False, maximize=False, grad_scale=scale, found_inf=None)
    return 0

  # A copy of an array in another data type.
  def converted(self: __torch__.K, x: Tensor, dtype: int) -> Tensor:
    return torch.to(x, dtype, False, True)

  # Copies an array into another, of any data type.
  def copy(self: __torch__.K, target: Tensor, source: Tensor) -> int:
    torch.copy_(target, source)
    return 0

  # The parts of J: what comes before the layers, a layer, and what comes after them.
  def joined_start(self: __torch__.K, R: List[Tensor], G: List[int], eps: float, W: List[Tensor]) -> List[Tensor]:
    return __torch__.join_start(W[0], R, G, eps)

  def joined_layer(self: __torch__.K, R: List[Tensor], G: List[int], eps: float, W: List[Tensor]) -> List[Tensor]:
    return __torch__.join_layer(W, R, G)

  def joined_end(self: __torch__.K, R: List[Tensor], G: List[int], eps: float, W: List[Tensor]) -> List[Tensor]:
    return __torch__.settled(W, R, G)

  # Caches of keys and values of all layers, [slots, k, room, d], of which the first used slots are
  # those of the old ones.
  def caches(self: __torch__.K, R: List[Tensor], G: List[int], old: List[Tensor], slots: int, room: int, used: int) -> List[Tensor]:
    fresh = annotate(List[Tensor], [])
    for i in range(2 * G[0]):
      cache = torch.zeros([slots, G[2], room, G[3]], dtype=G[7], device=R[0].device)
      if used > 0:
        torch.copy_(torch.slice(cache, 0, 0, used), torch.slice(old[i], 0, 0, used))
      fresh.append(cache)
    return fresh

  # Copies n slots of caches, from those in I[0] of one pool to those in I[1] of another or the same,
  # as much of each as the smaller holds.
  def move(self: __torch__.K, source: List[Tensor], target: List[Tensor], I: Tensor, n: int) -> int:
    I = torch.to(I, source[0].device, 4)
    here = torch.slice(I[0], 0, 0, n)
    there = torch.slice(I[1], 0, 0, n)
    for i in range(torch.len(source)):
      moved = torch.index_select(source[i], 0, here)
      torch.slice(target[i], 2, 0, moved.size(2)).index_copy_(0, there, moved)
    return n

  # Reads sequences ids [P, T] of length [P] once each and puts their keys and values into the
  # caches of rows, S[p] rows of pool p: I[0] the sequence of each row, I[1] its slot. Draws a token
  # for each row, or none if flags is less than 0.
  def prefill(self: __torch__.K, J: List[Tensor], R: List[Tensor], G: List[int], eps: float, KV: List[Tensor], S: List[int], ids: Tensor, length: Tensor, I: Tensor, F: Tensor, n: int, flags: int, held: Tensor) -> Tensor:
    if G[8] != 0:
      ids = __torch__.here(R, ids)
      length = __torch__.here(R, length)
      I = __torch__.here(R, I)
    P, T = ids.size(0), ids.size(1)
    fresh = annotate(List[Tensor], [])
    x = __torch__.read(J, G, eps, ids, fresh)
    from_ = 0
    for p in range(torch.len(S)):
      to_ = from_ + S[p]
      if S[p] > 0:
        owner = torch.slice(I[0], 0, from_, to_)
        slot = torch.slice(I[1], 0, from_, to_)
        for i in range(2 * G[0]):
          cache = KV[2 * G[0] * p + i]
          copied = torch.slice(torch.index_select(fresh[i], 0, owner).transpose(1, 2), 2, 0, cache.size(2))
          torch.slice(cache, 2, 0, copied.size(2)).index_copy_(0, slot, copied)
      from_ = to_
    if flags < 0:
      return torch.zeros([0, 0])
    last = torch.arange(P, dtype=4, device=ids.device) * T + length - 1
    logits = torch.linear(__torch__.filled(G, __torch__.rms(torch.index_select(x, 0, last), J[-2], eps)), J[-1])
    return __torch__.sampled(R, G, torch.index_select(logits, 0, torch.slice(I[0], 0, 0, n)), I, F, n, flags, held)

  # One token for each of n rows: S[2p] rows in the first slots of pool p, none of them longer than
  # S[2p + 1] after it, pool after pool. I[0] token, I[1] its position.
  def decode(self: __torch__.K, J: List[Tensor], R: List[Tensor], G: List[int], eps: float, KV: List[Tensor], S: List[int], I: Tensor, F: Tensor, n: int, flags: int, held: Tensor) -> Tensor:
    if G[8] != 0:
      I = __torch__.here(R, I)
    position = torch.slice(I[1], 0, 0, n)
    cos = __torch__.filled(G, torch.index_select(J[1], 0, position))
    sin = __torch__.filled(G, torch.index_select(J[2], 0, position))
    used = annotate(List[int], [])
    places = annotate(List[Tensor], [])
    masks = annotate(List[Tensor], [])
    from_ = 0
    for p in range(torch.len(S) // 2):
      m, L = S[2 * p], S[2 * p + 1]
      if m > 0:
        # Row and kv head [m * k]: its position, where its keys begin, and what is ahead of it.
        at = torch.slice(position, 0, from_, from_ + m).unsqueeze(1).expand([m, G[2]]).reshape([m * G[2]])
        room = KV[2 * G[0] * p].size(2)
        places.append(torch.add(torch.arange(0, m * G[2] * room, room, dtype=4, device=I.device), at))
        ahead = torch.gt(torch.arange(L, dtype=4, device=I.device), at.unsqueeze(1)).unsqueeze(1)
        masks.append(torch.masked_fill(torch.zeros([m * G[2], 1, L], dtype=G[7], device=I.device), ahead, -float("inf")))
        used.append(p)
        from_ = from_ + m
    x = __torch__.filled(G, torch.embedding(J[0], torch.slice(I[0], 0, 0, n)))
    for l in range(G[0]):
      w = __torch__.joined_layer(l)
      q, k, v = __torch__.project_joined(J, w, G, eps, cos, sin, x)
      k = torch.reshape(k, [-1, G[3]])
      v = torch.reshape(v, [-1, G[3]])
      parts = annotate(List[Tensor], [])
      from_ = 0
      for i in range(torch.len(used)):
        p = used[i]
        m, L = S[2 * p], S[2 * p + 1]
        keys = KV[2 * (G[0] * p + l)]
        values = KV[2 * (G[0] * p + l) + 1]
        mine = q
        if m < q.size(0):
          mine = torch.slice(q, 0, from_, from_ + m)
        torch.flatten(keys, 0, 2).index_copy_(0, places[i], torch.slice(k, 0, from_ * G[2], (from_ + m) * G[2]))
        torch.flatten(values, 0, 2).index_copy_(0, places[i], torch.slice(v, 0, from_ * G[2], (from_ + m) * G[2]))
        # The queries of one kv head are as many rows of a matrix: they all see the same keys.
        # Plain matrix products: fused attention gains nothing from so few queries a sequence.
        mine = torch.reshape(mine, [m * G[2], G[1] // G[2], G[3]])
        seen = torch.as_strided(keys, [m * G[2], G[3], L], [keys.stride(1), 1, G[3]])
        scores = torch.baddbmm(masks[i], mine, seen, beta=1, alpha=G[3] ** -0.5)
        a = torch.bmm(torch.softmax(scores, -1), torch.as_strided(values, [m * G[2], L, G[3]], [values.stride(1), G[3], 1]))
        parts.append(torch.reshape(a, [m, G[1] * G[3]]))
        from_ = from_ + m
      if torch.len(parts) == 1:
        gathered = parts[0]
      else:
        gathered = torch.cat(parts)
      x = __torch__.finish_joined(J, w, G, eps, x, __torch__.filled(G, gathered))
    logits = torch.linear(__torch__.rms(x, J[-2], eps), J[-1])
    if logits.size(0) > n:
      logits = torch.slice(logits, 0, 0, n)
    return __torch__.sampled(R, G, logits, I, F, n, flags, held)
