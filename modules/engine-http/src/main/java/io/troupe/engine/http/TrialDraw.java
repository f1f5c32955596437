package io.troupe.engine.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.http.protocol.Codec;
import io.troupe.engine.http.protocol.Draw;
import io.troupe.engine.http.protocol.Fields;
import io.troupe.engine.http.protocol.MalformedAnswerException;
import io.troupe.engine.http.protocol.Piece;
import java.time.Duration;
import java.util.Arrays;

/** Draws one completion in one piece, to see what a server does; nobody trains on it. */
record TrialDraw(Wire wire, Capabilities can) {
  /**
   * What comes of it: a token or more, each with a finite log-probability.
   *
   * @throws EndpointException if the server does not answer, or refuses
   * @throws MalformedAnswerException if the answer is not that
   */
  Piece of(Draw draw, Duration patience) throws MalformedAnswerException, InterruptedException {
    return of(can.dialect().codec().body(draw, false), patience);
  }

  /** The same, and goes on after a token that ends a text, where the server can be asked for it. */
  Piece pastEnd(Draw draw, Duration patience)
      throws MalformedAnswerException, InterruptedException {
    Codec codec = can.dialect().codec();
    ObjectNode body = codec.body(draw, false);
    codec.pastEnd(body);
    return of(body, patience);
  }

  private Piece of(ObjectNode body, Duration patience)
      throws MalformedAnswerException, InterruptedException {
    Codec codec = can.dialect().codec();
    Wire.Answer answer = wire.post(codec.path(), body, patience);
    if (!answer.ok()) {
      throw new EndpointException(wire.endpoint(), answer.fault());
    }
    Piece piece = codec.pieces(Fields.parse(answer.body())).getFirst();
    int drawn = piece.tokens().length;
    boolean finite = Arrays.stream(piece.logProbs()).allMatch(Double::isFinite);
    if (drawn == 0 || piece.logProbs().length != drawn || !finite) {
      throw new MalformedAnswerException(
          "of %d tokens drawn for trial, not each has a finite log-probability".formatted(drawn));
    }
    return piece;
  }
}
