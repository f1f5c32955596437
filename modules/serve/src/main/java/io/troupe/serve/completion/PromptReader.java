package io.troupe.serve.completion;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.serve.model.HttpErrorException;
import io.troupe.serve.model.ServedModel;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the prompts of a request as token ids.
 *
 * @param start whether texts begin with the tokenizer's own tokens
 */
record PromptReader(ServedModel served, PromptCut cut, boolean start) {
  List<int[]> prompts(JsonNode node) throws HttpErrorException {
    if (node.isTextual()) {
      return List.of(encode(node.textValue()));
    }
    if (!node.isArray() || node.isEmpty()) {
      throw HttpErrorException.bad(
          "prompt", "prompt is a text, a list of token ids, or a list of one of these");
    }
    if (node.path(0).isNumber()) {
      return List.of(ids(node));
    }
    List<int[]> prompts = new ArrayList<>();
    for (JsonNode one : node) {
      prompts.add(one.isTextual() ? encode(one.textValue()) : ids(one));
    }
    return prompts;
  }

  private int[] ids(JsonNode array) throws HttpErrorException {
    if (!array.isArray()) {
      throw HttpErrorException.bad(
          "prompt",
          "prompt is a text, a list of token ids, or a list of one of these, not "
              + JsonFields.excerpt(array.toString()));
    }
    int[] ids = new int[array.size()];
    for (int i = 0; i < ids.length; i++) {
      JsonNode id = array.get(i);
      if (id == null || !id.isIntegralNumber() || !id.canConvertToInt()) {
        throw HttpErrorException.bad(
            "prompt", "token %d of the prompt is no id: %s".formatted(i, id));
      }
      ids[i] = id.intValue();
    }
    return cut.of(ids, 0);
  }

  private int[] encode(String text) throws HttpErrorException {
    try {
      int[] ids = served.encoded(text, start);
      return cut.of(ids, start ? served.encoded("", true).length : 0);
    } catch (IllegalArgumentException foreign) {
      throw HttpErrorException.bad("prompt", String.valueOf(foreign.getMessage()));
    }
  }

  void check(int[] prompt, int longest) throws HttpErrorException {
    if (prompt.length == 0) {
      throw HttpErrorException.bad("prompt", "a prompt has at least one token");
    }
    int size = served.tokenizer().vocabularySize();
    for (int i = 0; i < prompt.length; i++) {
      if (prompt[i] < 0 || prompt[i] >= size) {
        throw HttpErrorException.bad(
            "prompt",
            "token %d of the prompt is %d; ids lie in [0, %d]".formatted(i, prompt[i], size - 1));
      }
    }
    if (prompt.length > longest) {
      throw HttpErrorException.bad(
          "prompt",
          "the prompt has %d tokens, and the maximum context length is %d"
              .formatted(prompt.length, served.contextLength()));
    }
  }
}
