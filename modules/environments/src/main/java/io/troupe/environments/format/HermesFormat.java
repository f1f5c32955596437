package io.troupe.environments.format;

import io.troupe.environments.ToolCall;
import java.util.ArrayList;
import java.util.List;

/**
 * The calls of Hermes, Qwen2.5 and Qwen3: {@code <tool_call>} around a JSON object with name and
 * arguments, results in one user message of {@code <tool_response>}s, in the frame of ChatML.
 *
 * <p>Where an answer thinks, calls are read behind its thought only, because models draft calls
 * while they think: {@link ThoughtSplit}.
 */
public final class HermesFormat implements ToolFormat {
  private static final String OPEN = "<tool_call>";
  private static final String CLOSE = "</tool_call>";

  @Override
  public List<String> stops() {
    return List.of();
  }

  @Override
  public ParsedToolCalls parse(String answer) {
    int from = ThoughtSplit.of(answer, false).from();
    StringBuilder text = new StringBuilder(answer.substring(0, from));
    List<ToolCall> calls = new ArrayList<>();
    while (true) {
      int open = answer.indexOf(OPEN, from);
      if (open < 0) {
        return new ParsedToolCalls(text.append(answer.substring(from)).toString(), calls);
      }
      text.append(answer, from, open);
      int close = answer.indexOf(CLOSE, open);
      int end = close < 0 ? answer.length() : close;
      ToolCall call = JsonCalls.call(answer.substring(open + OPEN.length(), end), "arguments");
      // An answer that ends behind a whole object has called; one that was cut has not.
      boolean unclosed = close < 0 && call.status() != ToolCall.Status.OK;
      calls.add(
          unclosed ? new ToolCall(call.name(), call.arguments(), ToolCall.Status.UNCLOSED) : call);
      from = close < 0 ? answer.length() : close + CLOSE.length();
    }
  }

  @Override
  public int textEnd(String beginning) {
    return PartialTag.begin(beginning, OPEN);
  }

  @Override
  public List<Piece> observation(List<String> results, boolean ended) {
    List<Piece> pieces = new ArrayList<>();
    pieces.add(new Piece((ended ? "" : "<|im_end|>") + "\n<|im_start|>user", true));
    for (String result : results) {
      pieces.add(new Piece("\n<tool_response>\n", true));
      pieces.add(new Piece(result, false));
      pieces.add(new Piece("\n</tool_response>", true));
    }
    pieces.add(new Piece("<|im_end|>\n<|im_start|>assistant\n", true));
    return pieces;
  }
}
