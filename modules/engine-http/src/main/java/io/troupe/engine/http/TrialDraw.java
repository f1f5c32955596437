package io.troupe.engine.http;

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
    Codec codec = can.dialect().codec();
    Wire.Answer answer = wire.post(codec.path(), codec.body(draw, false), patience);
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
