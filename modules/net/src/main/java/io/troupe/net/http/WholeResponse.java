package io.troupe.net.http;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Sends requests and waits for their answers, headers and body. {@link HttpRequest.Builder#timeout}
 * ends with the headers, so that a body that stalls would hold its caller for ever. A request that
 * is given up is cancelled, and its connection closed.
 */
public final class WholeResponse {
  private WholeResponse() {}

  /**
   * The answer, if it is whole in time.
   *
   * @throws HttpTimeoutException if it is not
   */
  public static <T> HttpResponse<T> within(
      HttpClient client, HttpRequest request, HttpResponse.BodyHandler<T> handler, Duration limit)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + limit.toNanos();
    return await(client.sendAsync(request, handler), () -> end, "no whole answer within " + limit);
  }

  /**
   * The answer, however long it takes, as long as bytes of it come.
   *
   * @param stall longest time without a byte
   * @throws HttpTimeoutException if none came for that long
   */
  public static <T> HttpResponse<T> whileProgressing(
      HttpClient client, HttpRequest request, HttpResponse.BodyHandler<T> handler, Duration stall)
      throws IOException, InterruptedException {
    AtomicLong moved = new AtomicLong(System.nanoTime());
    return await(
        client.sendAsync(request, info -> new Moving<>(handler.apply(info), moved)),
        () -> moved.get() + stall.toNanos(),
        "nothing came for " + stall);
  }

  /** The end of the wait, as of now. */
  @FunctionalInterface
  private interface End {
    long nanos();
  }

  private static <T> HttpResponse<T> await(
      CompletableFuture<HttpResponse<T>> sent, End end, String late)
      throws IOException, InterruptedException {
    try {
      while (true) {
        try {
          long left = end.nanos() - System.nanoTime();
          return sent.get(Math.max(0, left), TimeUnit.NANOSECONDS);
        } catch (TimeoutException perhaps) { // the end may have moved
          if (end.nanos() - System.nanoTime() <= 0) {
            throw new HttpTimeoutException(late);
          }
        }
      }
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof IOException broken) {
        throw broken;
      }
      throw new IOException(String.valueOf(failed.getCause()), failed.getCause());
    } finally {
      sent.cancel(true);
    }
  }

  /** Notes when bytes come. */
  private record Moving<T>(HttpResponse.BodySubscriber<T> to, AtomicLong moved)
      implements HttpResponse.BodySubscriber<T> {
    @Override
    public CompletionStage<T> getBody() {
      return to.getBody();
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      moved.set(System.nanoTime());
      to.onSubscribe(subscription);
    }

    @Override
    public void onNext(List<ByteBuffer> bytes) {
      moved.set(System.nanoTime());
      to.onNext(bytes);
    }

    @Override
    public void onError(Throwable broken) {
      to.onError(broken);
    }

    @Override
    public void onComplete() {
      to.onComplete();
    }
  }
}
