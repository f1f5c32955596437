package io.troupe.engine.djl.model;

import io.troupe.core.loss.TrainingSequence;
import java.util.Arrays;
import java.util.Map;

/**
 * The decoder in plain double-precision loops, one position after the other, written from the
 * architecture's definition: the oracle of the TorchScript program.
 */
public final class ReferenceDecoder {
  private final DecoderSettings s;
  private final int vocabulary;
  private final Map<String, double[]> weights;

  public ReferenceDecoder(DecoderSettings settings, int vocabulary, Map<String, double[]> weights) {
    this.s = settings;
    this.vocabulary = vocabulary;
    this.weights = weights;
  }

  /** Log-probabilities of a sequence's completion tokens. */
  public double[] logProbs(TrainingSequence sequence, double temperature) {
    return logProbs(sequence.prompt(), sequence.completion(), temperature);
  }

  public double[] logProbs(int[] prompt, int[] completion, double temperature) {
    int[] ids = new int[prompt.length + completion.length];
    System.arraycopy(prompt, 0, ids, 0, prompt.length);
    System.arraycopy(completion, 0, ids, prompt.length, completion.length);
    double[][] logits = logits(ids);
    double[] logProbs = new double[completion.length];
    for (int t = 0; t < completion.length; t++) {
      logProbs[t] = logSoftmax(logits[prompt.length + t - 1], temperature)[completion[t]];
    }
    return logProbs;
  }

  public static double[] logSoftmax(double[] logits, double temperature) {
    double max = Double.NEGATIVE_INFINITY;
    for (double logit : logits) {
      max = Math.max(max, logit / temperature);
    }
    double sum = 0;
    for (double logit : logits) {
      sum += Math.exp(logit / temperature - max);
    }
    double[] result = new double[logits.length];
    for (int i = 0; i < result.length; i++) {
      result[i] = logits[i] / temperature - max - Math.log(sum);
    }
    return result;
  }

  /** Logits after each position. */
  public double[][] logits(int[] ids) {
    int length = ids.length;
    double[][] x = new double[length][];
    double[] embedding = weight("model.embed_tokens.weight");
    for (int p = 0; p < length; p++) {
      x[p] = Arrays.copyOfRange(embedding, ids[p] * s.hidden(), (ids[p] + 1) * s.hidden());
    }
    for (int l = 0; l < s.layers(); l++) {
      layer("model.layers." + l + ".", x);
    }
    double[] output = s.tiedEmbeddings() ? embedding : weight("lm_head.weight");
    double[][] logits = new double[length][];
    for (int p = 0; p < length; p++) {
      logits[p] = times(output, vocabulary, norm(x[p], weight("model.norm.weight")));
    }
    return logits;
  }

  private void layer(String name, double[][] x) {
    int d = s.headDim();
    double[][] q = new double[x.length][];
    double[][] k = new double[x.length][];
    double[][] v = new double[x.length][];
    for (int p = 0; p < x.length; p++) {
      double[] y = norm(x[p], weight(name + "input_layernorm.weight"));
      q[p] = times(weight(name + "self_attn.q_proj.weight"), s.heads() * d, y);
      k[p] = times(weight(name + "self_attn.k_proj.weight"), s.kvHeads() * d, y);
      v[p] = times(weight(name + "self_attn.v_proj.weight"), s.kvHeads() * d, y);
      normAndRotate(q[p], weight(name + "self_attn.q_norm.weight"), p);
      normAndRotate(k[p], weight(name + "self_attn.k_norm.weight"), p);
    }
    for (int p = 0; p < x.length; p++) {
      double[] gathered = new double[s.heads() * d];
      for (int h = 0; h < s.heads(); h++) {
        attend(q[p], k, v, p, h, gathered);
      }
      add(x[p], times(weight(name + "self_attn.o_proj.weight"), s.hidden(), gathered));
      double[] y = norm(x[p], weight(name + "post_attention_layernorm.weight"));
      double[] gate = times(weight(name + "mlp.gate_proj.weight"), s.feedForward(), y);
      double[] up = times(weight(name + "mlp.up_proj.weight"), s.feedForward(), y);
      for (int i = 0; i < gate.length; i++) {
        gate[i] = gate[i] / (1 + Math.exp(-gate[i])) * up[i];
      }
      add(x[p], times(weight(name + "mlp.down_proj.weight"), s.hidden(), gate));
    }
  }

  private void attend(double[] q, double[][] k, double[][] v, int p, int h, double[] gathered) {
    int d = s.headDim();
    int kv = h / (s.heads() / s.kvHeads());
    double[] scores = new double[p + 1];
    for (int j = 0; j <= p; j++) {
      for (int i = 0; i < d; i++) {
        scores[j] += q[h * d + i] * k[j][kv * d + i] / Math.sqrt(d);
      }
    }
    double[] logShare = logSoftmax(scores, 1);
    for (int j = 0; j <= p; j++) {
      for (int i = 0; i < d; i++) {
        gathered[h * d + i] += Math.exp(logShare[j]) * v[j][kv * d + i];
      }
    }
  }

  /** RMSNorm of each head, then the rotation of its two halves by position. */
  private void normAndRotate(double[] heads, double[] scale, int position) {
    int d = s.headDim();
    for (int from = 0; from < heads.length; from += d) {
      double[] head = norm(Arrays.copyOfRange(heads, from, from + d), scale);
      for (int j = 0; j < d / 2; j++) {
        double angle = position * Math.pow(s.ropeTheta(), -2.0 * j / d);
        double a = head[j];
        double b = head[j + d / 2];
        heads[from + j] = a * Math.cos(angle) - b * Math.sin(angle);
        heads[from + j + d / 2] = b * Math.cos(angle) + a * Math.sin(angle);
      }
    }
  }

  private double[] norm(double[] x, double[] scale) {
    double square = 0;
    for (double value : x) {
      square += value * value;
    }
    double factor = 1 / Math.sqrt(square / x.length + s.normEpsilon());
    double[] result = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      result[i] = x[i] * factor * scale[i];
    }
    return result;
  }

  private static double[] times(double[] matrix, int rows, double[] x) {
    double[] result = new double[rows];
    for (int r = 0; r < rows; r++) {
      for (int i = 0; i < x.length; i++) {
        result[r] += matrix[r * x.length + i] * x[i];
      }
    }
    return result;
  }

  private static void add(double[] x, double[] y) {
    for (int i = 0; i < x.length; i++) {
      x[i] += y[i];
    }
  }

  private double[] weight(String name) {
    return Fixtures.of(weights, name);
  }
}
