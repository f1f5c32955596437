package io.troupe.gym.model;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** The protocols in which language models are asked. */
public enum ModelProtocol {
  /** OpenAI's chat completions, which most servers have, {@code troupe serve} among them. */
  OPENAI("/choices/0/message/content", "/usage/prompt_tokens", "/usage/completion_tokens") {
    @Override
    String path(String model) {
      return "/chat/completions";
    }

    @Override
    ObjectNode body(ModelSettings settings, ModelRequest request) {
      ObjectNode body = limits(settings);
      var messages = body.putArray("messages");
      messages.addObject().put("role", "system").put("content", request.system());
      messages.addObject().put("role", "user").put("content", request.user());
      return body;
    }

    @Override
    Map<String, String> keyHeaders(String key) {
      return Map.of("Authorization", "Bearer " + key);
    }
  },

  /** Anthropic's messages. */
  ANTHROPIC("/content/0/text", "/usage/input_tokens", "/usage/output_tokens") {
    @Override
    String path(String model) {
      return "/v1/messages";
    }

    @Override
    ObjectNode body(ModelSettings settings, ModelRequest request) {
      ObjectNode body = limits(settings).put("system", request.system());
      body.putArray("messages").addObject().put("role", "user").put("content", request.user());
      return body;
    }

    @Override
    Map<String, String> headers() {
      return Map.of("anthropic-version", "2023-06-01");
    }

    @Override
    Map<String, String> keyHeaders(String key) {
      return Map.of("x-api-key", key);
    }
  },

  /** Amazon Bedrock's Converse. Without a key, requests are signed. */
  BEDROCK("/output/message/content/0/text", "/usage/inputTokens", "/usage/outputTokens") {
    @Override
    String path(String model) {
      return "/model/%s/converse".formatted(URLEncoder.encode(model, StandardCharsets.UTF_8));
    }

    @Override
    ObjectNode body(ModelSettings settings, ModelRequest request) {
      ObjectNode body = JSON.createObjectNode();
      body.putArray("system").addObject().put("text", request.system());
      body.putArray("messages")
          .addObject()
          .put("role", "user")
          .putArray("content")
          .addObject()
          .put("text", request.user());
      body.putObject("inferenceConfig")
          .put("maxTokens", settings.maxTokens())
          .put("temperature", settings.temperature());
      return body;
    }

    @Override
    Map<String, String> keyHeaders(String key) {
      return Map.of("Authorization", "Bearer " + key);
    }
  };

  private static final ObjectMapper JSON = new ObjectMapper();

  /** JSON pointers into an answer. */
  final String text;

  final String inputTokens;
  final String outputTokens;

  ModelProtocol(String text, String inputTokens, String outputTokens) {
    this.text = text;
    this.inputTokens = inputTokens;
    this.outputTokens = outputTokens;
  }

  /** Returns the address that questions are sent to. */
  URI endpoint(ModelSettings settings) {
    return URI.create(settings.url().toString().replaceAll("/+$", "") + path(settings.model()));
  }

  abstract String path(String model);

  abstract ObjectNode body(ModelSettings settings, ModelRequest request);

  /** The headers of every request. */
  Map<String, String> headers() {
    return Map.of();
  }

  abstract Map<String, String> keyHeaders(String key);

  private static ObjectNode limits(ModelSettings settings) {
    return JSON.createObjectNode()
        .put("model", settings.model())
        .put("max_tokens", settings.maxTokens())
        .put("temperature", settings.temperature());
  }
}
