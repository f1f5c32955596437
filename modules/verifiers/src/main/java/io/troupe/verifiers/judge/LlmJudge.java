package io.troupe.verifiers.judge;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.outage.Backoff;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import io.troupe.core.reward.Verdict.Cause;
import io.troupe.net.http.WholeResponse;
import io.troupe.verifiers.Verifier;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Scores completions with a language model, over {@code POST /chat/completions}.
 *
 * <p>The judge fails closed: an unavailable server, a reply without exactly one score, and a late
 * reply give no reward at all, not a low one. Requests to busy servers (429, 5xx), and requests
 * whose reply has no score, are repeated after a pause that doubles.
 */
public final class LlmJudge implements Verifier {
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(20);
  private static final Backoff BACKOFF = new Backoff(250, LONGEST_PAUSE.toMillis());
  private static final int EXCERPT = 120;

  /** Most bytes of a reply: a judge may reason at length before its score. */
  private static final long MOST_BYTES = 4 << 20;

  private static final HttpResponse.BodyHandler<String> BOUNDED_TEXT =
      HttpResponse.BodyHandlers.limiting(HttpResponse.BodyHandlers.ofString(UTF_8), MOST_BYTES);

  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** The result of one request. */
  private sealed interface Reply {
    record Text(String text) implements Reply {}

    /** The request may be repeated. */
    record Again(Cause cause, String why, Optional<Duration> after) implements Reply {}

    /** A repeated request would fail too. */
    record Refused(String why) implements Reply {}
  }

  private final JudgeSettings settings;
  private final URI url;
  // HTTP/1.1: servers that do not support the upgrade to HTTP/2 drop the request's body with it.
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(10))
          .build();

  /** A judge that has sent no request yet. */
  public LlmJudge(JudgeSettings settings) {
    this.settings = settings;
    String base = settings.endpoint().toString();
    this.url = URI.create(base + (base.endsWith("/") ? "" : "/") + "chat/completions");
  }

  @Override
  public Verdict verify(Prompt prompt, String completion) {
    String body = body(settings.rubric().fill(prompt, completion));
    Verdict.Unverifiable verdict = new Verdict.Unverifiable(Cause.CRASH, "not asked");
    for (int attempt = 1; attempt <= settings.attempts(); attempt++) {
      Duration pause = Duration.ofMillis(BACKOFF.pauseMillis(attempt));
      switch (ask(body)) {
        case Reply.Text(String text) -> {
          OptionalDouble score = ScoreParser.in(text);
          if (score.isPresent()) {
            return new Verdict.Scored(score.getAsDouble(), excerpt(text), "the judge's score");
          }
          verdict = unverifiable(Cause.CRASH, attempt, "its reply is no score: " + excerpt(text));
        }
        case Reply.Again(Cause cause, String why, Optional<Duration> after) -> {
          verdict = unverifiable(cause, attempt, why);
          pause = after.filter(d -> d.compareTo(LONGEST_PAUSE) <= 0).orElse(pause);
        }
        case Reply.Refused(String why) -> {
          return unverifiable(Cause.CRASH, attempt, why);
        }
      }
      if (attempt < settings.attempts() && !sleep(pause)) {
        return new Verdict.Unverifiable(Cause.CRASH, "the judge was interrupted");
      }
    }
    return verdict;
  }

  private Verdict.Unverifiable unverifiable(Cause cause, int attempt, String why) {
    return new Verdict.Unverifiable(
        cause, "the judge at %s, asked %d times: %s".formatted(url, attempt, why));
  }

  private Reply ask(String body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(url)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    settings.apiKey().ifPresent(key -> request.header("Authorization", "Bearer " + key));
    try {
      HttpResponse<String> response =
          WholeResponse.within(http, request.build(), BOUNDED_TEXT, settings.timeout());
      int status = response.statusCode();
      if (status == 200) {
        return text(response.body());
      }
      String why = "HTTP %d: %s".formatted(status, excerpt(response.body()));
      return status == 408 || status == 429 || status >= 500
          ? new Reply.Again(Cause.CRASH, why, retryAfter(response))
          : new Reply.Refused(why);
    } catch (HttpTimeoutException late) {
      return new Reply.Again(
          Cause.TIMEOUT, "no whole reply within " + settings.timeout(), Optional.empty());
    } catch (IOException away) {
      return new Reply.Again(Cause.CRASH, "cannot be reached: " + away, Optional.empty());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Reply.Refused("interrupted");
    }
  }

  private static Reply text(String body) {
    try {
      JsonNode content =
          JSON.readTree(body).path("choices").path(0).path("message").path("content");
      return content.isTextual()
          ? new Reply.Text(content.asText())
          : new Reply.Refused("its answer holds no message: " + excerpt(body));
    } catch (JsonProcessingException notJson) {
      return new Reply.Refused("its answer is not JSON: " + excerpt(body));
    }
  }

  private static Optional<Duration> retryAfter(HttpResponse<?> response) {
    return response
        .headers()
        .firstValue("Retry-After")
        .filter(value -> value.matches("\\d{1,5}"))
        .map(value -> Duration.ofSeconds(Long.parseLong(value)));
  }

  private String body(String text) {
    ObjectNode node = JSON.createObjectNode();
    node.put("model", settings.model());
    node.put("temperature", 0);
    node.put("max_tokens", settings.maxTokens());
    node.putArray("messages").addObject().put("role", "user").put("content", text);
    return node.toString();
  }

  private static boolean sleep(Duration time) {
    try {
      Thread.sleep(time);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
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
