package io.troupe.engine.http.client;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.failure.Causes;
import io.troupe.engine.http.protocol.CallFailure;
import io.troupe.engine.http.protocol.CompletionAssembler;
import io.troupe.engine.http.protocol.CompletionChunk;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.http.protocol.RawCompletion;
import io.troupe.engine.http.protocol.SseDecoder;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * One streaming request. It ends exactly once: with completions, a failure or a cancellation. Its
 * connection is closed with it, unless the server has sent the whole answer.
 *
 * <p>A timer watches the progress of tokens, not of bytes: the comments that the front end of a
 * hung engine keeps sending are no progress. The timer is suspended while the server is paused and,
 * before the first token, while the request waits in the server's queue behind other clients.
 */
public final class StreamingCall {
  private static final String LAST = "[DONE]";
  private static final Duration RAREST_LOOK = Duration.ofSeconds(1);

  /** The number of the timer's checks within the shortest timeout. */
  private static final int LOOKS = 10;

  private final InferenceEndpoint endpoint;
  private final Dialect dialect;
  private final CompletionAssembler assembly; // guarded by this
  private final BooleanSupplier paused;
  private final BooleanSupplier queueing;
  private final CompletableFuture<List<RawCompletion>> result = new CompletableFuture<>();
  private final long sinceNanos;
  private Optional<CompletableFuture<?>> exchange = Optional.empty(); // guarded by this
  private Optional<Flow.Subscription> source = Optional.empty(); // guarded by this
  private long progressNanos = System.nanoTime(); // guarded by this
  private boolean begun; // guarded by this
  private boolean last; // guarded by this

  /**
   * A request that is about to start.
   *
   * @param sinceNanos time of the first request for its completions; the whole answer must arrive
   *     within the endpoint's total timeout from then
   * @param paused whether this process has paused the server
   * @param queueing whether requests wait at the server while it samples for other clients
   */
  StreamingCall(
      InferenceEndpoint endpoint,
      Dialect dialect,
      int completions,
      long sinceNanos,
      BooleanSupplier paused,
      BooleanSupplier queueing) {
    this.endpoint = endpoint;
    this.sinceNanos = sinceNanos;
    this.dialect = dialect;
    this.assembly = new CompletionAssembler(completions);
    this.paused = paused;
    this.queueing = queueing;
  }

  public CompletionStage<List<RawCompletion>> result() {
    return result.minimalCompletionStage();
  }

  /** Returns the time at which the completions of this request were first requested. */
  public long sinceNanos() {
    return sinceNanos;
  }

  /** Cancels the request; the server notices that the connection is closed. */
  public void cancel() {
    if (result.completeExceptionally(new CancellationException("cancelled"))) {
      hangUp();
    }
  }

  void start(HttpClient client, HttpRequest request, ScheduledExecutorService clock) {
    CompletableFuture<HttpResponse<CallFailure>> sent =
        client.sendAsync(
            request,
            info ->
                info.statusCode() == 200
                    ? new Events()
                    : HttpResponse.BodySubscribers.mapping(
                        new BoundedBody(),
                        text ->
                            CallFailure.ofStatus(
                                info.statusCode(),
                                text,
                                info.headers().firstValue("Retry-After").orElse(""))));
    synchronized (this) {
      exchange = Optional.of(sent);
    }
    var _ =
        sent.whenComplete(
            (response, failure) -> {
              if (failure == null) {
                settle(response);
              } else {
                broken(failure);
              }
            });
    watch(clock);
  }

  private void settle(HttpResponse<CallFailure> response) {
    if (response.statusCode() != 200) {
      fail(response.body());
    }
  }

  private void broken(Throwable failure) {
    Throwable cause = Causes.of(failure);
    boolean answered;
    synchronized (this) {
      answered = begun;
    }
    fail(
        answered
            ? CallFailure.of(
                CallFailure.Kind.TRUNCATED, "the connection broke: " + cause.getMessage())
            : InferenceClient.fault(cause));
  }

  private void fail(CallFailure fault) {
    List<RawCompletion> sampled;
    synchronized (this) {
      sampled = assembly.tokensSoFar();
    }
    if (result.completeExceptionally(new InferenceCallException(endpoint, fault, sampled))) {
      hangUp();
    }
  }

  private void hangUp() {
    Optional<Flow.Subscription> stream;
    Optional<CompletableFuture<?>> call;
    synchronized (this) {
      stream = source;
      call = exchange;
    }
    stream.ifPresent(Flow.Subscription::cancel);
    call.ifPresent(sent -> sent.cancel(true));
  }

  private void watch(ScheduledExecutorService clock) {
    Duration shortest =
        Collections.min(
            List.of(
                endpoint.patience().firstToken(),
                endpoint.patience().idle(),
                RAREST_LOOK.multipliedBy(LOOKS)));
    long pause = Math.max(1, shortest.dividedBy(LOOKS).toMillis());
    try {
      var task = clock.scheduleWithFixedDelay(this::look, pause, pause, TimeUnit.MILLISECONDS);
      var _ = result.whenComplete((_, _) -> task.cancel(false));
    } catch (RejectedExecutionException closed) {
      cancel();
    }
  }

  private void look() {
    long now = System.nanoTime();
    InferenceEndpoint.Patience patience = endpoint.patience();
    boolean stalled;
    boolean first;
    synchronized (this) {
      first = assembly.tokens() == 0;
      if (paused.getAsBoolean() || (first && queueing.getAsBoolean())) {
        progressNanos = now;
      }
      stalled = now - progressNanos > (first ? patience.firstToken() : patience.idle()).toNanos();
    }
    if (now - sinceNanos > patience.total().toNanos()) {
      fail(CallFailure.of(CallFailure.Kind.TOO_LATE, "not whole after " + patience.total()));
    } else if (stalled && first) {
      fail(CallFailure.of(CallFailure.Kind.NO_ANSWER, "no token after " + patience.firstToken()));
    } else if (stalled) {
      fail(CallFailure.of(CallFailure.Kind.STALLED, "no further token for " + patience.idle()));
    }
  }

  private final class Events implements HttpResponse.BodySubscriber<CallFailure> {
    private final SseDecoder decoder = new SseDecoder();
    private final CompletableFuture<CallFailure> ended = new CompletableFuture<>();

    @Override
    public CompletionStage<CallFailure> getBody() {
      return ended;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      synchronized (StreamingCall.this) {
        source = Optional.of(subscription);
        begun = true;
      }
      if (result.isDone()) {
        subscription.cancel();
      }
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
      try {
        for (ByteBuffer buffer : buffers) {
          for (String event : decoder.decode(buffer)) {
            take(event);
          }
        }
      } catch (MalformedResponseException | IllegalArgumentException malformed) {
        fail(CallFailure.of(CallFailure.Kind.MALFORMED, String.valueOf(malformed.getMessage())));
      }
    }

    private void take(String event) throws MalformedResponseException {
      if (event.equals(LAST)) {
        finish();
        return;
      }
      JsonNode message = JsonFields.parse(event);
      Optional<CallFailure> failure = dialect.codec().failure(message);
      if (failure.isPresent()) {
        fail(failure.get());
        return;
      }
      synchronized (StreamingCall.this) {
        int before = assembly.tokens();
        for (CompletionChunk piece : dialect.codec().pieces(message)) {
          assembly.add(piece);
        }
        if (assembly.tokens() != before) {
          progressNanos = System.nanoTime();
        }
      }
    }

    private void finish() {
      List<RawCompletion> sampled;
      synchronized (StreamingCall.this) {
        last = true;
        sampled = assembly.tokensSoFar();
      }
      // A request that vLLM aborts before its first token ends with the end mark alone.
      result.complete(
          sampled.stream().map(one -> one.tokens().length == 0 ? one.cut() : one).toList());
    }

    @Override
    public void onError(Throwable failure) {
      fail(
          CallFailure.of(
              CallFailure.Kind.TRUNCATED, "the connection broke: " + failure.getMessage()));
      ended.completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
      boolean whole;
      synchronized (StreamingCall.this) {
        // llama-server ends its stream without an end mark.
        whole = last || (dialect == Dialect.LLAMA_SERVER && assembly.ended());
      }
      if (whole) {
        finish();
      } else {
        fail(
            CallFailure.of(
                CallFailure.Kind.TRUNCATED,
                decoder.midEvent()
                    ? "the stream ended in the middle of an event"
                    : "the stream ended without its end mark"));
      }
      ended.complete(CallFailure.of(CallFailure.Kind.TRUNCATED, "ended"));
    }
  }
}
