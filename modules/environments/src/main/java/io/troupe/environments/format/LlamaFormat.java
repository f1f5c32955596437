package io.troupe.environments.format;

import io.troupe.base.text.PythonJson;
import io.troupe.environments.ToolCall;
import java.util.ArrayList;
import java.util.List;

/**
 * The calls of Llama 3.1, 3.2 and 3.3: the whole answer is one JSON object with name and
 * parameters, results come from role {@code ipython}, as JSON strings. An answer that only begins
 * with a brace is a text.
 */
public final class LlamaFormat implements ToolFormat {
  private static final String TAG = "<|python_tag|>";

  @Override
  public List<String> stops() {
    return List.of();
  }

  @Override
  public ParsedToolCalls parse(String answer) {
    String whole = answer.strip();
    String bare = whole.startsWith(TAG) ? whole.substring(TAG.length()).strip() : whole;
    if (!bare.startsWith("{") || !bare.endsWith("}")) {
      return new ParsedToolCalls(answer, List.of());
    }
    ToolCall call = JsonCalls.call(bare, "parameters", "arguments");
    return call.status() == ToolCall.Status.OK
        ? new ParsedToolCalls("", List.of(call))
        : new ParsedToolCalls(answer, List.of());
  }

  /** Only an answer that is a call as a whole is one. */
  @Override
  public int textEnd(String beginning) {
    String lead = beginning.stripLeading();
    boolean mayCall = lead.startsWith("{") || lead.startsWith(TAG) || TAG.startsWith(lead);
    return mayCall ? 0 : beginning.length();
  }

  @Override
  public List<Piece> observation(List<String> results, boolean ended) {
    List<Piece> pieces = new ArrayList<>();
    String end = ended ? "" : "<|eot_id|>";
    for (String result : results) {
      pieces.add(new Piece(end + "<|start_header_id|>ipython<|end_header_id|>\n\n", true));
      pieces.add(new Piece(PythonJson.quoted(result), false));
      end = "<|eot_id|>";
    }
    pieces.add(new Piece("<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n", true));
    return pieces;
  }
}
