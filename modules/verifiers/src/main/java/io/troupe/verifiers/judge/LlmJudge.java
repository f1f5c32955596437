package io.troupe.verifiers.judge;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.outage.Backoff;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import io.troupe.core.reward.Verdict.Cause;
import io.troupe.net.http.PatientClient;
import io.troupe.net.http.PatientClient.Reply;
import io.troupe.verifiers.Verifier;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.Optional;

/**
 * Scores completions with a language model, over {@code POST /chat/completions}.
 *
 * <p>The judge fails closed: an unavailable server, a reply without exactly one score, and a late
 * reply give no reward at all, not a low one. Only a completion that is longer than a judge reads
 * has a low one. Requests to busy servers (429, 5xx), and requests whose reply has no score, are
 * repeated after a pause that doubles.
 */
public final class LlmJudge implements Verifier {
  private static final Backoff BACKOFF = new Backoff(250, 20_000);
  private static final int EXCERPT = 120;
  private static final Duration REACHED_WITHIN = Duration.ofSeconds(10);

  /** Most bytes of a reply: a judge may reason at length before its score. */
  private static final long MOST_BYTES = 4 << 20;

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final JudgeSettings settings;
  private final URI url;
  private final PatientClient http = new PatientClient(MOST_BYTES, BACKOFF, Thread::sleep);

  /** A judge that has sent no request yet. */
  public LlmJudge(JudgeSettings settings) {
    this.settings = settings;
    String base = settings.endpoint().toString();
    this.url = URI.create(base + (base.endsWith("/") ? "" : "/") + "chat/completions");
  }

  @Override
  public Verdict verify(Prompt prompt, String completion) {
    if (completion.length() > settings.maxChars()) {
      return new Verdict.Scored(
          0,
          "",
          "%d characters are more than the judge's max_chars (%d)"
              .formatted(completion.length(), settings.maxChars()));
    }
    HttpRequest request = request(body(settings.rubric().fill(prompt, completion)));
    Reply last;
    try {
      last =
          http.repeat(
              settings.attempts(),
              number -> counted(number, scored(http.send(request, settings.timeout()))));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Verdict.Unverifiable(Cause.CRASH, "the judge was interrupted");
    }
    return switch (last) {
      case Reply.Text(String text) ->
          new Verdict.Scored(
              ScoreParser.in(text).orElseThrow(), excerpt(text), "the judge's score");
      case Reply.Again(String why, boolean late, Optional<Duration> _) ->
          unverifiable(late ? Cause.TIMEOUT : Cause.CRASH, why);
      case Reply.Refused(String why) -> unverifiable(Cause.CRASH, why);
    };
  }

  /** Lists the models: any answer to that, even a refusal, shows that a server is there. */
  @Override
  public void reach() throws IOException {
    HttpRequest.Builder request = HttpRequest.newBuilder(url.resolve("../models")).GET();
    settings.apiKey().ifPresent(key -> request.header("Authorization", "Bearer " + key));
    try {
      Reply reply =
          http.repeat(settings.attempts(), _ -> http.reach(request.build(), REACHED_WITHIN));
      if (reply instanceof Reply.Again(String why, boolean _, Optional<Duration> _)) {
        throw new IOException(
            "the judge at %s, %s; start its server, or correct the option endpoint"
                .formatted(settings.endpoint(), why));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the judge was to be reached", e);
    }
  }

  private Verdict.Unverifiable unverifiable(Cause cause, String why) {
    return new Verdict.Unverifiable(cause, "the judge at %s, %s".formatted(url, why));
  }

  private static Reply counted(int number, Reply reply) {
    String asked = "asked %d times: ".formatted(number);
    return switch (reply) {
      case Reply.Text text -> text;
      case Reply.Again(String why, boolean late, Optional<Duration> after) ->
          new Reply.Again(asked + why, late, after);
      case Reply.Refused(String why) -> new Reply.Refused(asked + why);
    };
  }

  private HttpRequest request(String body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(url)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    settings.apiKey().ifPresent(key -> request.header("Authorization", "Bearer " + key));
    return request.build();
  }

  /** The message of an answer; one without exactly one score may be asked for again. */
  private static Reply scored(Reply reply) {
    if (!(reply instanceof Reply.Text(String body))) {
      return reply;
    }
    Reply message = text(body);
    return message instanceof Reply.Text(String text) && ScoreParser.in(text).isEmpty()
        ? new Reply.Again("its reply is no score: " + excerpt(text), false, Optional.empty())
        : message;
  }

  private static Reply text(String body) {
    try {
      JsonNode choice = JSON.readTree(body).path("choices").path(0);
      JsonNode content = choice.path("message").path("content");
      if (choice.path("finish_reason").asText().equals("length")) {
        return new Reply.Again(
            "its reply was cut off, so that it is no score; raise max_tokens: "
                + excerpt(content.asText()),
            false,
            Optional.empty());
      }
      return content.isTextual()
          ? new Reply.Text(content.asText())
          : new Reply.Refused("its answer holds no message: " + excerpt(body));
    } catch (JsonProcessingException notJson) {
      return new Reply.Refused("its answer is not JSON: " + excerpt(body));
    }
  }

  private String body(String text) {
    ObjectNode node = JSON.createObjectNode();
    node.put("model", settings.model());
    node.put("temperature", 0);
    node.put("max_tokens", settings.maxTokens());
    node.putArray("messages").addObject().put("role", "user").put("content", text);
    return node.toString();
  }

  private static String excerpt(String text) {
    String line = text.strip().replace('\n', ' ');
    return line.length() <= EXCERPT ? line : line.substring(0, EXCERPT) + "…";
  }

  @Override
  public void close() {
    http.close();
  }
}
