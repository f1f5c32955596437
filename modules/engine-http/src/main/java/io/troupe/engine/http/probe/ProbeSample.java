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

/** Draws one completion in one piece, to see what a server does; nobody trains on it. */
public record ProbeSample(InferenceClient wire, Capabilities can) {
  /**
   * What comes of it: a token or more, each with a finite log-probability.
   *
   * @throws InferenceCallException if the server does not answer, or refuses
   * @throws MalformedResponseException if the answer is not that
   */
  public CompletionChunk of(GenerateRequest draw, Duration patience)
      throws MalformedResponseException, InterruptedException {
    return of(can.dialect().codec().body(draw, false), patience);
  }

  /** The same, and goes on after a token that ends a text, where the server can be asked for it. */
  public CompletionChunk ignoringEnd(GenerateRequest draw, Duration patience)
      throws MalformedResponseException, InterruptedException {
    CompletionCodec codec = can.dialect().codec();
    ObjectNode body = codec.body(draw, false);
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
    int drawn = piece.tokens().length;
    boolean finite = Arrays.stream(piece.logProbs()).allMatch(Double::isFinite);
    if (drawn == 0 || piece.logProbs().length != drawn || !finite) {
      throw new MalformedResponseException(
          "of %d tokens drawn for trial, not each has a finite log-probability".formatted(drawn));
    }
    return piece;
  }
}
