package io.troupe.gateway.dialog;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.hash.Sha256;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * A digest of each beginning of a conversation, by which a request is compared with former ones
 * without keeping their texts.
 *
 * <p>Two messages are the same if role, name, text and calls are: blanks around a text, the ids of
 * calls, the way in which arguments are written, and reasoning, which agents leave out, do not
 * count. The same tools in the same order belong to every beginning.
 *
 * @param digests of the first 0, 1, 2 … messages
 */
public record MessageChain(List<String> digests) {
  private static final ObjectMapper JSON = new ObjectMapper();

  public MessageChain {
    digests = List.copyOf(digests);
  }

  /** The beginnings of a request's conversation. */
  public static MessageChain of(TurnRequest request) {
    List<String> digests = new ArrayList<>();
    MessageDigest tools = Sha256.digest();
    for (ToolDeclaration tool : request.tools()) {
      add(tools, "tool", tool.name(), tool.description(), canonical(tool.parameters()));
    }
    digests.add(Sha256.hex(tools));
    for (ChatMessage message : request.messages()) {
      digests.add(after(digests.getLast(), message));
    }
    return new MessageChain(digests);
  }

  /** The digest of the whole conversation. */
  public String whole() {
    return digests.getLast();
  }

  /** Returns the digest of a conversation that one message continues. */
  static String after(String before, ChatMessage message) {
    MessageDigest digest = Sha256.digest();
    add(digest, before, message.role().name(), message.content().strip());
    if (!message.name().isEmpty()) {
      add(digest, "name", message.name());
    }
    message.calls().forEach(call -> add(digest, call.name(), canonical(call.arguments())));
    return Sha256.hex(digest);
  }

  private static void add(MessageDigest digest, String... parts) {
    for (String part : parts) {
      byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
      digest.update((bytes.length + ":").getBytes(StandardCharsets.US_ASCII));
      digest.update(bytes);
    }
  }

  /** JSON without blanks and with its keys in order; another text as it is. */
  private static String canonical(String text) {
    try {
      return sorted(JSON.readTree(text)).toString();
    } catch (JsonProcessingException noJson) {
      return text;
    }
  }

  private static JsonNode sorted(JsonNode node) {
    if (node.isObject()) {
      ObjectNode object = JsonNodeFactory.instance.objectNode();
      TreeSet<String> names = new TreeSet<>();
      node.fieldNames().forEachRemaining(names::add);
      names.forEach(name -> object.set(name, sorted(node.path(name))));
      return object;
    }
    if (node.isArray()) {
      ArrayNode array = JsonNodeFactory.instance.arrayNode();
      node.forEach(each -> array.add(sorted(each)));
      return array;
    }
    return node;
  }
}
