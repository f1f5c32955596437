package io.troupe.gym.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.outage.Backoff;
import io.troupe.gym.loop.Spend;
import io.troupe.net.http.PatientClient;
import io.troupe.net.http.PatientClient.Reply;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.Optional;

/**
 * A language model behind HTTP: OpenAI's {@code /chat/completions}, which most servers have, {@code
 * troupe serve} among them, or Anthropic's {@code /v1/messages}. {@link PatientClient} says which
 * requests are repeated; any other refusal ends the call. One request is under way at a time.
 */
public final class HttpModel implements LanguageModel, AutoCloseable {
  private static final Backoff BACKOFF = new Backoff(1_000, 30_000);
  private static final long MOST_BYTES = 8 << 20;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final ModelSettings settings;
  private final URI endpoint;
  private final PatientClient http;

  /** A model that has been asked nothing yet. */
  public HttpModel(ModelSettings settings, PatientClient.Pause pause) {
    this.settings = settings;
    this.http = new PatientClient(MOST_BYTES, BACKOFF, pause);
    String base = settings.url().toString().replaceAll("/+$", "");
    this.endpoint =
        URI.create(
            base
                + (settings.provider() == ModelSettings.Provider.OPENAI
                    ? "/chat/completions"
                    : "/v1/messages"));
  }

  @Override
  public String identity() {
    return "%s %s %s %s %d"
        .formatted(
            settings.provider(),
            settings.url(),
            settings.model(),
            settings.temperature(),
            settings.maxTokens());
  }

  @Override
  public Spend most(long inputTokens) {
    return new Spend(
        1,
        inputTokens,
        settings.maxTokens(),
        settings.prices().microDollars(inputTokens, settings.maxTokens()));
  }

  @Override
  public ModelReply ask(ModelRequest request) throws IOException {
    HttpRequest call = http(request);
    Reply reply;
    try {
      reply = http.repeat(settings.attempts(), _ -> http.send(call, settings.prices().timeout()));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("the call of " + endpoint + " was interrupted");
    }
    return switch (reply) {
      case Reply.Text(String text) -> reply(text);
      case Reply.Refused(String why) ->
          throw new IOException("the model at %s refuses: %s".formatted(endpoint, why));
      case Reply.Again(String why, boolean _, Optional<Duration> _) ->
          throw new IOException(
              "the model at %s, asked %d times: %s; everything is kept, and --resume continues"
                  .formatted(endpoint, settings.attempts(), why));
    };
  }

  private HttpRequest http(ModelRequest request) {
    ObjectNode body = JSON.createObjectNode();
    body.put("model", settings.model());
    body.put("max_tokens", settings.maxTokens());
    body.put("temperature", settings.temperature());
    var messages = body.putArray("messages");
    boolean openai = settings.provider() == ModelSettings.Provider.OPENAI;
    if (openai) {
      messages.addObject().put("role", "system").put("content", request.system());
    } else {
      body.put("system", request.system());
    }
    messages.addObject().put("role", "user").put("content", request.user());
    HttpRequest.Builder builder =
        HttpRequest.newBuilder(endpoint)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body.toString()));
    if (!openai) {
      builder.header("anthropic-version", "2023-06-01");
    }
    settings
        .apiKey()
        .ifPresent(
            key ->
                builder.header(
                    openai ? "Authorization" : "x-api-key", openai ? "Bearer " + key : key));
    return builder.build();
  }

  private ModelReply reply(String body) throws IOException {
    try {
      JsonNode node = JSON.readTree(body);
      boolean openai = settings.provider() == ModelSettings.Provider.OPENAI;
      JsonNode text =
          openai
              ? node.path("choices").path(0).path("message").path("content")
              : node.path("content").path(0).path("text");
      JsonNode usage = node.path("usage");
      long input = usage.path(openai ? "prompt_tokens" : "input_tokens").asLong();
      long output = usage.path(openai ? "completion_tokens" : "output_tokens").asLong();
      if (!text.isTextual()) {
        throw new IOException(
            "the model at %s answers without a text: %s"
                .formatted(endpoint, PatientClient.excerpt(body)));
      }
      return new ModelReply(
          text.textValue(),
          new Spend(1, input, output, settings.prices().microDollars(input, output)));
    } catch (JsonProcessingException notJson) {
      throw new IOException(
          "the model at %s answers no JSON: %s".formatted(endpoint, PatientClient.excerpt(body)),
          notJson);
    }
  }

  @Override
  public void close() {
    http.close();
  }
}
