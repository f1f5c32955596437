package io.troupe.environments.command;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.process.ForeignProgram;
import io.troupe.environments.EnvironmentFailedException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.LongConsumer;

/**
 * A program that reads requests and writes replies, each an object of JSON on a line, and the reply
 * with the {@code id} of its request. Any thread may ask.
 *
 * <p>Every request ends: with its reply, at its limit, or when the program ends, which is noticed
 * at once.
 */
public final class JsonLineProgram implements AutoCloseable {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

  private static final long LAST_OUTPUT_MILLIS = 1000;

  private final ProgramSettings settings;
  private final BiConsumer<JsonLineProgram, String> others;
  private final Map<Long, CompletableFuture<JsonNode>> pending = new ConcurrentHashMap<>();
  private final AtomicLong ids = new AtomicLong();
  private final CompletableFuture<ForeignProgram> program = new CompletableFuture<>();
  private final CompletableFuture<String> failure = new CompletableFuture<>();

  private JsonLineProgram(ProgramSettings settings, BiConsumer<JsonLineProgram, String> others) {
    this.settings = settings;
    this.others = others;
  }

  /**
   * Starts a program.
   *
   * @param others takes a line that is no reply to a pending request
   * @throws EnvironmentFailedException if it cannot be started
   */
  public static JsonLineProgram start(
      ProgramSettings settings, BiConsumer<JsonLineProgram, String> others) {
    JsonLineProgram started = new JsonLineProgram(settings, others);
    try {
      ForeignProgram child =
          ForeignProgram.start(
              settings.command(), settings.variables(), settings.lineBytes(), started::onLine);
      started.program.complete(child);
      CompletableFuture<Integer> exit = child.exit().toCompletableFuture();
      CompletableFuture<Void> output = child.outputEnd().toCompletableFuture();
      var _ =
          CompletableFuture.anyOf(exit, output)
              .thenCompose(
                  _ -> // the last reply may be behind the exit, and the exit behind the output
                  CompletableFuture.allOf(exit, output)
                          .completeOnTimeout(null, LAST_OUTPUT_MILLIS, TimeUnit.MILLISECONDS))
              .thenRun(() -> started.fail(ending(exit)));
      return started;
    } catch (IOException notThere) {
      throw new EnvironmentFailedException(
          "%s cannot be started: %s".formatted(settings.line(), notThere.getMessage()), notThere);
    }
  }

  private static String ending(CompletableFuture<Integer> exit) {
    return exit.isDone() ? "it ended with exit code " + exit.join() : "it closed its output";
  }

  private void onLine(String line) {
    JsonNode message = parsed(line);
    if (message.isMissingNode()
        && line.getBytes(StandardCharsets.UTF_8).length >= settings.lineBytes()) {
      refuse(line);
      return;
    }
    CompletableFuture<JsonNode> reply =
        message.path("id").isIntegralNumber() && !message.has("method")
            ? pending.remove(message.path("id").longValue())
            : null;
    if (reply == null) {
      others.accept(this, line);
    } else {
      reply.complete(message);
    }
  }

  /**
   * Ends the request whose reply was cut at the longest line, or all where the reply names none.
   */
  private void refuse(String cut) {
    EnvironmentFailedException tooLong =
        new EnvironmentFailedException(
            "%s answers more than %d bytes: a line has at most %d bytes"
                .formatted(settings.line(), settings.lineBytes(), settings.lineBytes()));
    OptionalLong id = idOf(cut);
    List<Long> ended = id.isPresent() ? List.of(id.getAsLong()) : List.copyOf(pending.keySet());
    for (Long each : ended) {
      CompletableFuture<JsonNode> reply = pending.remove(each);
      if (reply != null) {
        reply.completeExceptionally(tooLong);
      }
    }
  }

  /** The id in the beginning of an object; empty if the object is cut before it. */
  private static OptionalLong idOf(String cut) {
    try (JsonParser parser = JSON.createParser(cut)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        boolean id = parser.currentName().equals("id");
        if (parser.nextToken() == JsonToken.VALUE_NUMBER_INT && id) {
          return OptionalLong.of(parser.getLongValue());
        }
        parser.skipChildren();
      }
    } catch (IOException end) {
      // The text is cut here.
    }
    return OptionalLong.empty();
  }

  /** Reads a line; a missing node where it is not JSON. */
  public static JsonNode parsed(String line) {
    try {
      return JSON.readTree(line);
    } catch (JsonProcessingException broken) {
      return JSON.missingNode();
    }
  }

  /** Ends the program, and every request with what is wrong. */
  public void fail(String reason) {
    if (failure.complete(reason)) {
      Thread.ofVirtual().start(this::close);
    }
    pending.keySet().forEach(this::endPending);
  }

  private void endPending(Long id) {
    CompletableFuture<JsonNode> reply = pending.remove(id);
    if (reply != null) {
      reply.completeExceptionally(failed());
    }
  }

  private EnvironmentFailedException failed() {
    String last = program.join().lastOutput();
    return new EnvironmentFailedException(
        "%s failed: %s%s"
            .formatted(
                settings.line(),
                failure.join(),
                last.isEmpty() ? "" : "; its last output: " + last));
  }

  /**
   * Sends a request and waits for its reply.
   *
   * @param request gets its {@code id} here
   * @param silent takes the id of the request if the limit is reached, which does not end the
   *     program
   * @throws EnvironmentFailedException if there is no reply: the program has ended, or the limit is
   *     reached
   */
  public JsonNode ask(ObjectNode request, Duration limit, LongConsumer silent) {
    long id = ids.incrementAndGet();
    CompletableFuture<JsonNode> reply = new CompletableFuture<>();
    pending.put(id, reply);
    if (failure.isDone()) { // as it was before the request was pending
      endPending(id);
    }
    Thread.ofVirtual().start(() -> tell(request.put("id", id)));
    try {
      return reply.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      silent.accept(id);
      throw new EnvironmentFailedException(
          "%s did not reply within %s to %s"
              .formatted(settings.line(), limit, request.path("method").asText()),
          late);
    } catch (ExecutionException broken) {
      throw broken.getCause() instanceof EnvironmentFailedException known
          ? known
          : new IllegalStateException(broken);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new EnvironmentFailedException("interrupted while waiting for " + settings.line());
    } finally {
      pending.remove(id);
    }
  }

  /** Sends a message that has no reply. */
  public synchronized void tell(ObjectNode message) {
    try {
      program.join().write(message.toString());
    } catch (IOException notRead) {
      fail("it does not read: " + notRead.getMessage());
    }
  }

  /** Whether the program takes requests. */
  public boolean isAlive() {
    return !failure.isDone();
  }

  /** Ends the program and everything that it has started. */
  @Override
  public void close() {
    program.join().close();
    fail("it was ended");
  }
}
