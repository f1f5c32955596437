package io.troupe.environments.format;

import java.util.ArrayList;
import java.util.List;

/**
 * A format behind whose results a chat template adds more before the next answer, such as the empty
 * thinking of Qwen3.
 *
 * @param answerStart text that the template adds
 */
public record BridgedFormat(ToolFormat format, String answerStart) implements ToolFormat {
  @Override
  public List<String> stops() {
    return format.stops();
  }

  @Override
  public ParsedToolCalls parse(String answer) {
    return format.parse(answer);
  }

  @Override
  public int textEnd(String beginning) {
    return format.textEnd(beginning);
  }

  @Override
  public List<Piece> observation(List<String> results, boolean ended) {
    List<Piece> pieces = new ArrayList<>(format.observation(results, ended));
    if (!answerStart.isEmpty()) {
      pieces.add(new Piece(answerStart, true));
    }
    return pieces;
  }
}
