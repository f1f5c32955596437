package io.troupe.evaluation;

import static io.troupe.core.SplitMix64.mix;
import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.outage.Backoff;
import io.troupe.core.prompt.LiteralMark;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.StopMatcher;
import io.troupe.engine.Tokenizer;
import io.troupe.net.http.PatientClient;
import io.troupe.net.http.PatientClient.Reply;
import io.troupe.net.http.WholeResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

/**
 * Samples at servers with OpenAI's interface ({@code /v1/completions}), one request a sample, the
 * servers in turn. A request that a server is too busy for, or that does not arrive, is repeated
 * after a pause that doubles.
 *
 * <p>Where the policy's tokenizer is known, prompts are complete texts, and a server is told to add
 * no special tokens. A prompt whose data spell a special token is sent as ids, since no server
 * knows the mark by which {@link Tokenizer#literal} tells such a spelling from the token. Where it
 * is not known, prompts are texts without a template, to which a server adds what begins a text.
 */
public final class EndpointAnswers implements AnswerSource {
  private static final int ATTEMPTS = 6;
  private static final Duration PATIENCE = Duration.ofMinutes(30);
  private static final long MOST_BYTES = 64L << 20;
  private static final Backoff BACKOFF = new Backoff(250, 20_000);
  private static final long SEEDS = 0x7fff_ffffL;

  private final List<URI> servers;
  private final String model;
  private final String key;
  private final BiConsumer<ObjectNode, String> prompts;
  private final Semaphore room;
  private final AtomicInteger turn = new AtomicInteger();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final PatientClient http = new PatientClient(MOST_BYTES, BACKOFF, Thread::sleep);

  /**
   * Creates answers of servers that serve the same policy.
   *
   * @param urls with or without {@code /v1}
   * @param model name of the policy there
   * @param key that requests carry; empty means none
   * @param requests at a time, at each server
   */
  public EndpointAnswers(List<URI> urls, String model, String key, int requests) {
    this(urls, model, key, requests, (body, text) -> body.put("prompt", LiteralMark.removed(text)));
  }

  /**
   * Creates answers of servers that serve the same policy.
   *
   * @param tokenizer of the policy
   */
  public EndpointAnswers(
      List<URI> urls, String model, String key, int requests, Tokenizer tokenizer) {
    this(urls, model, key, requests, (body, text) -> complete(body, text, tokenizer));
  }

  private EndpointAnswers(
      List<URI> urls,
      String model,
      String key,
      int requests,
      BiConsumer<ObjectNode, String> prompts) {
    this.prompts = prompts;
    this.servers = urls.stream().map(EndpointAnswers::base).toList();
    this.model = model;
    this.key = key;
    this.room = new Semaphore(requests * servers.size());
  }

  private static void complete(ObjectNode body, String text, Tokenizer tokenizer) {
    if (text.indexOf(LiteralMark.CHARACTER) < 0) {
      body.put("prompt", text);
    } else {
      ArrayNode ids = body.putArray("prompt");
      Arrays.stream(tokenizer.encodeWithSpecial(text)).forEach(ids::add);
    }
    if (!tokenizer.textStart().isEmpty()) {
      body.put("add_special_tokens", false);
    }
  }

  private static URI base(URI url) {
    String text = url.toString().replaceAll("/+$", "");
    return URI.create(text.endsWith("/v1") ? text + "/" : text + "/v1/");
  }

  /** The name of the first model that the first server lists. */
  public static String onlyModel(URI url, String key) throws IOException, InterruptedException {
    URI models = base(url).resolve("models");
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      HttpResponse<String> response =
          WholeResponse.within(
              client,
              authorized(HttpRequest.newBuilder(models), key).GET().build(),
              HttpResponse.BodyHandlers.ofString(UTF_8),
              Duration.ofSeconds(30));
      JsonNode name =
          EvaluationLines.JSON.readTree(response.body()).path("data").path(0).path("id");
      if (response.statusCode() != 200 || !name.isTextual()) {
        throw new IOException(
            "%s lists no model (HTTP %d: %s); name one by --model"
                .formatted(models, response.statusCode(), PatientClient.excerpt(response.body())));
      }
      return name.asText();
    }
  }

  private static HttpRequest.Builder authorized(HttpRequest.Builder request, String key) {
    return key.isEmpty() ? request : request.header("Authorization", "Bearer " + key);
  }

  @Override
  public List<CompletionStage<List<Answer>>> answer(List<Question> questions) {
    List<CompletionStage<List<Answer>>> answers = new ArrayList<>();
    for (Question question : questions) {
      List<CompletableFuture<Answer>> samples = new ArrayList<>();
      for (int sample = 0; sample < question.samples(); sample++) {
        long seed = (sample == 0 ? question.seed() : mix(question.seed() + sample)) & SEEDS;
        samples.add(CompletableFuture.supplyAsync(() -> asked(question.item(), seed), threads));
      }
      answers.add(
          CompletableFuture.allOf(samples.toArray(CompletableFuture[]::new))
              .thenApply(_ -> samples.stream().map(CompletableFuture::join).toList()));
    }
    return answers;
  }

  private Answer asked(EvaluationItem item, long seed) {
    try {
      room.acquire();
      try {
        return repeated(item, seed);
      } finally {
        room.release();
      }
    } catch (IOException failure) {
      throw new CompletionException(failure);
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
      throw new CompletionException(ended);
    }
  }

  private Answer repeated(EvaluationItem item, long seed) throws IOException, InterruptedException {
    String body = body(item, seed);
    Reply last = http.repeat(ATTEMPTS, number -> ask(next(), body, number));
    return switch (last) {
      case Reply.Text(String text) -> read(text, item);
      case Reply.Refused(String why) -> throw new IOException(why);
      case Reply.Again(String why, boolean _, Optional<Duration> _) -> throw new IOException(why);
    };
  }

  private URI next() {
    return servers.get(Math.floorMod(turn.getAndIncrement(), servers.size()));
  }

  private Reply ask(URI server, String body, int number) throws InterruptedException {
    HttpRequest request =
        authorized(HttpRequest.newBuilder(server.resolve("completions")), key)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    return switch (http.send(request, PATIENCE)) {
      case Reply.Text text -> text;
      case Reply.Refused(String why) ->
          new Reply.Refused("%s refuses the prompt: %s".formatted(server, why));
      case Reply.Again(String why, boolean late, Optional<Duration> after) ->
          new Reply.Again("%s, asked %d times: %s".formatted(server, number, why), late, after);
    };
  }

  private static Answer read(String text, EvaluationItem item) throws IOException {
    JsonNode reply = EvaluationLines.JSON.readTree(text);
    JsonNode choice = reply.path("choices").path(0);
    JsonNode tokens = reply.path("usage").path("completion_tokens");
    if (!choice.path("text").isTextual() || !tokens.isIntegralNumber()) {
      throw new IOException(
          "a server answers without choices[0].text and usage.completion_tokens: "
              + PatientClient.excerpt(text));
    }
    return new Answer(
        StopMatcher.cut(choice.path("text").asText(), item.sampling().stops()),
        tokens.asInt(),
        choice.path("finish_reason").asText().equals(Answer.LENGTH) ? Answer.LENGTH : Answer.STOP);
  }

  private String body(EvaluationItem item, long seed) {
    SamplingSettings sampling = item.sampling();
    ObjectNode body = EvaluationLines.JSON.createObjectNode();
    body.put("model", model);
    prompts.accept(body, item.prompt().text());
    body.put("max_tokens", sampling.maxTokens()).put("temperature", sampling.temperature());
    body.put("top_p", sampling.topP()).put("seed", seed);
    if (sampling.topK() > 0) {
      body.put("top_k", sampling.topK());
    }
    if (sampling.minP() > 0) {
      body.put("min_p", sampling.minP());
    }
    if (sampling.penalises()) {
      body.put("repetition_penalty", sampling.repetitionPenalty());
    }
    if (!sampling.stops().isEmpty()) {
      StopMatcher.ofRequest(sampling.stops()).forEach(body.putArray("stop")::add);
    }
    if (!sampling.stopIds().isEmpty()) {
      sampling.stopIds().stream().sorted().forEach(body.putArray("stop_token_ids")::add);
    }
    return body.toString();
  }

  @Override
  public void close() {
    threads.shutdownNow();
    http.close();
  }
}
