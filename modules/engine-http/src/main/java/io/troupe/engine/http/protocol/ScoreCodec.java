package io.troupe.engine.http.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.engine.Scorer.Scores;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Encodes a request for the log-probabilities of a prompt's tokens, and decodes the answer, for one
 * kind of server. An answer that lacks a position, or lacks the token itself at a position, is
 * refused: a gap in a teacher's scores is never filled.
 */
public final class ScoreCodec {
  /** Rounding may lift the log-probability of a certain token this far above zero. */
  private static final double ROUNDING = 1e-3;

  private static final double FLOOR = -9999;

  private final Dialect dialect;
  private final String model;

  /** The codec for a server that knows its model by a name. */
  public ScoreCodec(Dialect dialect, String model) {
    this.dialect = dialect;
    this.model = model;
  }

  /** A token and its log-probability. */
  private record Candidate(int id, double logProb) {}

  /** The route. */
  public String path() {
    return dialect == Dialect.SGLANG ? "/generate" : "/v1/completions";
  }

  /** The request. It samples one token too, because only Troupe's own server can sample none. */
  public ObjectNode body(int[] tokens, int topK) {
    ObjectNode body = JsonFields.object();
    if (dialect == Dialect.SGLANG) {
      ids(body.putArray("input_ids"), tokens);
      body.put("return_logprob", true)
          .put("logprob_start_len", 0)
          .put("top_logprobs_num", topK)
          .put("stream", false);
      body.putObject("sampling_params").put("max_new_tokens", 1).put("temperature", 1.0);
      return body;
    }
    ids(body.put("model", model).putArray("prompt"), tokens);
    return body.put("max_tokens", dialect == Dialect.TROUPE ? 0 : 1)
        .put("temperature", 1.0)
        .put("add_special_tokens", false)
        .put("prompt_logprobs", topK)
        .put("return_token_ids", true)
        .put("stream", false);
  }

  private static void ids(ArrayNode array, int[] tokens) {
    for (int token : tokens) {
      array.add(token);
    }
  }

  /**
   * Decodes the answer.
   *
   * @throws MalformedResponseException if it is incomplete; the message names the position
   */
  public Scores scores(JsonNode answer, int[] tokens, int topK) throws MalformedResponseException {
    JsonNode meta = answer.path("meta_info");
    JsonNode places =
        dialect == Dialect.SGLANG
            ? meta.path("input_token_logprobs")
            : answer.path("choices").path(0).path("prompt_logprobs");
    if (places.size() != tokens.length) {
      throw new MalformedResponseException(
          "log-probabilities of %d places for %d tokens: %s"
              .formatted(places.size(), tokens.length, JsonFields.excerpt(answer.toString())));
    }
    double[] own = new double[tokens.length - 1];
    int[][] likeliest = new int[own.length][topK];
    float[][] theirs = new float[own.length][topK];
    for (int i = 1; i < tokens.length; i++) {
      List<Candidate> candidates =
          dialect == Dialect.SGLANG
              ? pairs(meta.path("input_top_logprobs").path(i))
              : byId(places.get(i));
      own[i - 1] =
          dialect == Dialect.SGLANG
              ? ofPair(places.get(i), i, tokens[i])
              : of(candidates, i, tokens[i]);
      if (candidates.size() < topK) {
        throw new MalformedResponseException(
            "place %d has %d tokens, and %d were asked for".formatted(i, candidates.size(), topK));
      }
      for (int k = 0; k < topK; k++) {
        likeliest[i - 1][k] = candidates.get(k).id();
        theirs[i - 1][k] = (float) checked(candidates.get(k).logProb(), i);
      }
    }
    return new Scores(own, topK == 0 ? TeacherTokens.NONE : new TeacherTokens(likeliest, theirs));
  }

  /** The candidates of a position, most likely first; the token itself may be an additional one. */
  private static List<Candidate> byId(JsonNode place) throws MalformedResponseException {
    List<Candidate> candidates = new ArrayList<>();
    for (var entry : place.properties()) {
      try {
        candidates.add(
            new Candidate(
                Integer.parseInt(entry.getKey()),
                JsonFields.number(entry.getValue().path("logprob"))));
      } catch (NumberFormatException noId) {
        throw new MalformedResponseException("'%s' is no token id".formatted(entry.getKey()));
      }
    }
    candidates.sort(Comparator.comparingDouble(Candidate::logProb).reversed());
    return candidates;
  }

  private static List<Candidate> pairs(JsonNode place) {
    List<Candidate> candidates = new ArrayList<>();
    for (JsonNode pair : place) {
      candidates.add(new Candidate(pair.path(1).asInt(-1), JsonFields.number(pair.path(0))));
    }
    candidates.sort(Comparator.comparingDouble(Candidate::logProb).reversed());
    return candidates;
  }

  private static double of(List<Candidate> candidates, int place, int token)
      throws MalformedResponseException {
    Optional<Candidate> own =
        candidates.stream().filter(candidate -> candidate.id() == token).findFirst();
    if (own.isEmpty()) {
      throw new MalformedResponseException(
          "place %d lacks its own token, %d".formatted(place, token));
    }
    return checked(own.get().logProb(), place);
  }

  private static double ofPair(JsonNode pair, int place, int token)
      throws MalformedResponseException {
    if (pair.path(1).asInt(-1) != token) {
      throw new MalformedResponseException(
          "place %d is of token %s, not %d".formatted(place, pair.path(1), token));
    }
    return checked(JsonFields.number(pair.path(0)), place);
  }

  private static double checked(double logProb, int place) throws MalformedResponseException {
    if (!Double.isFinite(logProb) || logProb <= FLOOR || logProb > ROUNDING) {
      throw new MalformedResponseException(
          "the log-probability in place %d is %s".formatted(place, logProb));
    }
    return logProb;
  }
}
