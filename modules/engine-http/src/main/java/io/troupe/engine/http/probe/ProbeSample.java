package io.troupe.engine.http.probe;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.protocol.CompletionChunk;
import io.troupe.engine.http.protocol.CompletionCodec;
import io.troupe.engine.http.protocol.GenerateRequest;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import java.time.Duration;
import java.util.Arrays;

/** Samples one completion as a test of a server. No training uses it. */
public record ProbeSample(InferenceClient wire, Capabilities can) {
  /**
   * Samples one token or more, each with a finite log-probability.
   *
   * @throws InferenceCallException if the server does not answer, or refuses
   * @throws MalformedResponseException if the answer has no tokens, or not all log-probabilities
   */
  public CompletionChunk of(GenerateRequest request, Duration patience)
      throws MalformedResponseException, InterruptedException {
    return of(can.dialect().codec().body(request, false), patience);
  }

  /** Samples past a token that ends a text, where the server offers that. */
  public CompletionChunk ignoringEnd(GenerateRequest request, Duration patience)
      throws MalformedResponseException, InterruptedException {
    CompletionCodec codec = can.dialect().codec();
    ObjectNode body = codec.body(request, false);
    codec.ignoringEnd(body);
    return of(body, patience);
  }

  private CompletionChunk of(ObjectNode body, Duration patience)
      throws MalformedResponseException, InterruptedException {
    CompletionCodec codec = can.dialect().codec();
    InferenceClient.Response answer = wire.post(codec.path(), body, patience);
    if (!answer.ok()) {
      throw new InferenceCallException(wire.endpoint(), answer.fault());
    }
    CompletionChunk piece = codec.pieces(JsonFields.parse(answer.body())).getFirst();
    int sampled = piece.tokens().length;
    boolean finite = Arrays.stream(piece.logProbs()).allMatch(Double::isFinite);
    if (sampled == 0 || piece.logProbs().length != sampled || !finite) {
      throw new MalformedResponseException(
          "of %d tokens sampled for trial, not each has a finite log-probability"
              .formatted(sampled));
    }
    return piece;
  }
}
