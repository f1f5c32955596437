package io.troupe.gateway.dialog;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.engine.ForeignTexts;
import io.troupe.engine.Tokenizer;
import io.troupe.environments.format.ToolFormat;
import java.util.Arrays;
import java.util.List;

/**
 * What a policy reads behind an answer that calls tools: the results of its calls, up to the
 * beginning of its next answer, as one text.
 */
public final class Observation {
  private Observation() {}

  /**
   * Returns the ids that follow an answer. They begin with the end of its message, as the format
   * has it, unless that is the last token of the answer: an answer that was cut, or ended with
   * another token, is closed as the chat template closes it.
   *
   * @throws IllegalArgumentException if the tokenizer cannot encode a result
   */
  public static int[] ids(
      Tokenizer tokenizer, ToolFormat format, List<String> results, Completion answer) {
    ForeignTexts foreign = new ForeignTexts(tokenizer);
    String closed = text(format, results, true, foreign);
    String open = text(format, results, false, foreign);
    int[] ids = foreign.encoded(open);
    int[] sampled = answer.tokens();
    boolean itsEnd =
        !open.equals(closed)
            && answer.finishReason() == FinishReason.STOP
            && sampled.length > 0
            && ids[0] == sampled[sampled.length - 1];
    return itsEnd ? Arrays.copyOfRange(ids, 1, ids.length) : ids;
  }

  private static String text(
      ToolFormat format, List<String> results, boolean ended, ForeignTexts foreign) {
    StringBuilder text = new StringBuilder();
    for (ToolFormat.Piece piece : format.observation(results, ended)) {
      text.append(piece.special() ? piece.text() : foreign.shown(piece.text()));
    }
    return text.toString();
  }
}
