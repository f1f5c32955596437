package io.troupe.gym.model;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.outage.Backoff;
import io.troupe.gym.loop.Spend;
import io.troupe.net.http.WholeResponse;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;

/**
 * A language model behind HTTP: OpenAI's {@code /chat/completions}, which most servers have, {@code
 * troupe serve} among them, or Anthropic's {@code /v1/messages}. A busy server (408, 429, 5xx) and
 * one that cannot be reached are asked again after a pause that doubles; any other refusal ends the
 * call. One request is under way at a time.
 */
public final class HttpModel implements LanguageModel, AutoCloseable {
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
  private static final Backoff BACKOFF = new Backoff(1_000, LONGEST_PAUSE.toMillis());
  private static final long MOST_BYTES = 8 << 20;
  private static final int EXCERPT = 200;
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpResponse.BodyHandler<String> BOUNDED_TEXT =
      HttpResponse.BodyHandlers.limiting(HttpResponse.BodyHandlers.ofString(UTF_8), MOST_BYTES);

  /** Waits between two attempts. */
  @FunctionalInterface
  public interface Pause {
    void wait(Duration time) throws InterruptedException;
  }

  private sealed interface Attempt {
    record Answered(ModelReply reply) implements Attempt {}

    record Again(String why, Optional<Duration> after) implements Attempt {}
  }

  private final ModelSettings settings;
  private final URI endpoint;
  private final Pause pause;
  // HTTP/1.1: servers that do not support the upgrade to HTTP/2 drop the request's body with it.
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(10))
          .build();

  /** A model that has been asked nothing yet. */
  public HttpModel(ModelSettings settings, Pause pause) {
    this.settings = settings;
    this.pause = pause;
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
    String why = "";
    for (int attempt = 1; attempt <= settings.attempts(); attempt++) {
      try {
        switch (attempt(request)) {
          case Attempt.Answered(ModelReply reply) -> {
            return reply;
          }
          case Attempt.Again(String reason, Optional<Duration> after) -> {
            why = reason;
            if (attempt < settings.attempts()) {
              pause.wait(
                  after
                      .filter(time -> time.compareTo(LONGEST_PAUSE) <= 0)
                      .orElse(Duration.ofMillis(BACKOFF.pauseMillis(attempt))));
            }
          }
        }
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("the call of " + endpoint + " was interrupted");
      }
    }
    throw new IOException(
        "the model at %s, asked %d times: %s; everything is kept, and --resume continues"
            .formatted(endpoint, settings.attempts(), why));
  }

  private Attempt attempt(ModelRequest request) throws IOException, InterruptedException {
    HttpResponse<String> response;
    try {
      response =
          WholeResponse.within(http, http(request), BOUNDED_TEXT, settings.prices().timeout());
    } catch (IOException away) {
      return new Attempt.Again(away.toString(), Optional.empty());
    }
    int status = response.statusCode();
    if (status == 200) {
      return new Attempt.Answered(reply(response.body()));
    }
    String why = "HTTP %d: %s".formatted(status, excerpt(response.body()));
    if (status == 408 || status == 429 || status >= 500) {
      return new Attempt.Again(why, retryAfter(response));
    }
    throw new IOException("the model at %s refuses: %s".formatted(endpoint, why));
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
            "the model at %s answers without a text: %s".formatted(endpoint, excerpt(body)));
      }
      return new ModelReply(
          text.textValue(),
          new Spend(1, input, output, settings.prices().microDollars(input, output)));
    } catch (JsonProcessingException notJson) {
      throw new IOException(
          "the model at %s answers no JSON: %s".formatted(endpoint, excerpt(body)), notJson);
    }
  }

  private static Optional<Duration> retryAfter(HttpResponse<?> response) {
    return response
        .headers()
        .firstValue("Retry-After")
        .filter(value -> value.matches("\\d{1,5}"))
        .map(value -> Duration.ofSeconds(Long.parseLong(value)));
  }

  private static String excerpt(String text) {
    String line = text.strip().replace('\n', ' ');
    return line.length() <= EXCERPT ? line : line.substring(0, EXCERPT) + "…";
  }

  @Override
  public void close() {
    http.shutdownNow();
  }
}
