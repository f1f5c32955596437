package io.troupe.gym.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.core.outage.Backoff;
import io.troupe.gym.loop.Spend;
import io.troupe.net.http.PatientClient;
import io.troupe.net.http.PatientClient.Reply;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/**
 * A language model behind HTTP. {@link PatientClient} says which requests are repeated; any other
 * refusal ends the call. One request is under way at a time.
 */
public final class HttpModel implements LanguageModel, AutoCloseable {
  private static final Backoff BACKOFF = new Backoff(1_000, 30_000);
  private static final long MOST_BYTES = 8 << 20;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final ModelSettings settings;
  private final RequestAuthorization authorization;
  private final URI endpoint;
  private final PatientClient http;

  /** A model that has been asked nothing yet. */
  public HttpModel(
      ModelSettings settings, RequestAuthorization authorization, PatientClient.Pause pause) {
    this.settings = settings;
    this.authorization = authorization;
    this.http = new PatientClient(MOST_BYTES, BACKOFF, pause);
    this.endpoint = settings.protocol().endpoint(settings);
  }

  @Override
  public String identity() {
    return "%s %s %s %s %d"
        .formatted(
            settings.protocol(),
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
    byte[] body =
        settings.protocol().body(settings, request).toString().getBytes(StandardCharsets.UTF_8);
    Reply reply;
    try {
      reply = http.repeat(settings.attempts(), _ -> attempt(body));
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

  private Reply attempt(byte[] body) throws InterruptedException {
    HttpRequest.Builder builder =
        HttpRequest.newBuilder(endpoint)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body));
    settings.protocol().headers().forEach(builder::setHeader);
    try {
      authorization.headers(endpoint, body).forEach(builder::setHeader);
    } catch (IOException without) {
      return new Reply.Refused(String.valueOf(without.getMessage()));
    }
    return http.send(builder.build(), settings.prices().timeout());
  }

  private ModelReply reply(String body) throws IOException {
    try {
      JsonNode node = JSON.readTree(body);
      ModelProtocol protocol = settings.protocol();
      JsonNode text = node.at(protocol.text);
      long input = node.at(protocol.inputTokens).asLong();
      long output = node.at(protocol.outputTokens).asLong();
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
