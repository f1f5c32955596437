package io.troupe.environments.format;

import io.troupe.environments.ToolCall;
import java.util.ArrayList;
import java.util.List;

/**
 * Calls within a text, after Toolformer (Schick et al. 2023): {@code [calc 12*34]}, followed by the
 * result and a semicolon. It needs neither a chat template nor special tokens, so a policy that is
 * trained from random weights can learn it.
 */
public final class InlineFormat implements ToolFormat {
  /** Ends a call, and the turn. */
  private static final String CLOSE = "]";

  private static final char OPEN = '[';

  /** Returns a call. */
  public static String call(String tool, String argument) {
    return OPEN + tool + " " + argument + CLOSE;
  }

  /** Returns what a policy is shown of a result. */
  public static String result(String text) {
    return text + ";";
  }

  @Override
  public List<String> stops() {
    return List.of(CLOSE);
  }

  @Override
  public ParsedToolCalls parse(String answer) {
    int open = answer.indexOf(OPEN);
    if (open < 0) {
      return new ParsedToolCalls(answer, List.of());
    }
    int close = answer.indexOf(CLOSE, open);
    String inner = answer.substring(open + 1, close < 0 ? answer.length() : close);
    int space = inner.indexOf(' ');
    ToolCall.Status status =
        close < 0
            ? ToolCall.Status.UNCLOSED
            : space <= 0 ? ToolCall.Status.MISSING_NAME : ToolCall.Status.OK;
    ToolCall call =
        new ToolCall(
            space <= 0 ? "" : inner.substring(0, space), inner.substring(space + 1), status);
    return new ParsedToolCalls(answer.substring(0, open), List.of(call));
  }

  @Override
  public int textEnd(String beginning) {
    int open = beginning.indexOf(OPEN);
    return open < 0 ? beginning.length() : open;
  }

  @Override
  public List<Piece> observation(List<String> results, boolean ended) {
    List<Piece> pieces = new ArrayList<>();
    results.forEach(each -> pieces.add(new Piece(result(each), false)));
    return pieces;
  }
}
