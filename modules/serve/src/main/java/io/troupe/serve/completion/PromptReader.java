package io.troupe.serve.completion;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.serve.model.HttpErrorException;
import io.troupe.serve.model.ServedModel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads the prompts of a request as token ids. */
record PromptReader(ServedModel served) {
  private static final int MOST_TEXT = 4096;
  private static final int MOST_ARGUMENTS = 64;

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

  private static int[] ids(JsonNode array) throws HttpErrorException {
    int[] ids = new int[array.size()];
    for (int i = 0; i < ids.length; i++) {
      JsonNode id = array.get(i);
      if (id == null || !id.isIntegralNumber() || !id.canConvertToInt()) {
        throw HttpErrorException.bad(
            "prompt", "token %d of the prompt is no id: %s".formatted(i, id));
      }
      ids[i] = id.intValue();
    }
    return ids;
  }

  private int[] encode(String text) throws HttpErrorException {
    try {
      return served.tokenizer().encodeWithSpecial(text);
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

  int[] conversation(JsonNode body) throws HttpErrorException {
    List<ServedModel.ChatRenderer.ServedMessage> messages = new ArrayList<>();
    for (JsonNode message : body.path("messages")) {
      if (!message.path("role").isTextual() || !message.path("content").isTextual()) {
        throw HttpErrorException.bad(
            "messages", "a message has a role and a content, both texts: " + message);
      }
      messages.add(
          new ServedModel.ChatRenderer.ServedMessage(
              message.path("role").textValue(), message.path("content").textValue()));
    }
    if (messages.isEmpty()) {
      throw HttpErrorException.bad("messages", "messages is a list of at least one message");
    }
    if (body.path("chat_template_kwargs").size() > MOST_ARGUMENTS
        || body.path("chat_template_kwargs").toString().length() > MOST_TEXT) {
      throw HttpErrorException.bad(
          "chat_template_kwargs",
          "chat_template_kwargs has at most %d entries, and %d characters"
              .formatted(MOST_ARGUMENTS, MOST_TEXT));
    }
    Map<String, Object> arguments = new HashMap<>();
    body.path("chat_template_kwargs")
        .properties()
        .forEach(
            entry ->
                arguments.put(
                    entry.getKey(),
                    entry.getValue().isBoolean()
                        ? (Object) entry.getValue().booleanValue()
                        : entry.getValue().asText()));
    try {
      return encode(served.chat().render(messages, arguments));
    } catch (IllegalArgumentException refused) {
      throw HttpErrorException.bad("messages", String.valueOf(refused.getMessage()));
    }
  }
}
