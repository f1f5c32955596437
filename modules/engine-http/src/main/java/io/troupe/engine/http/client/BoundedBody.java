package io.troupe.engine.http.client;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/** The beginning of a body; bytes beyond the bound are not read. */
final class BoundedBody implements HttpResponse.BodySubscriber<String> {
  private static final int MOST_BYTES = 1 << 20;

  private final CompletableFuture<String> whole = new CompletableFuture<>();
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private Optional<Flow.Subscription> source = Optional.empty();

  @Override
  public CompletionStage<String> getBody() {
    return whole;
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    source = Optional.of(subscription);
    subscription.request(Long.MAX_VALUE);
  }

  @Override
  public void onNext(List<ByteBuffer> buffers) {
    for (ByteBuffer buffer : buffers) {
      byte[] next = new byte[Math.min(buffer.remaining(), MOST_BYTES - bytes.size())];
      buffer.get(next);
      bytes.writeBytes(next);
    }
    if (bytes.size() >= MOST_BYTES) {
      source.ifPresent(Flow.Subscription::cancel);
      onComplete();
    }
  }

  @Override
  public void onError(Throwable broken) {
    whole.completeExceptionally(broken);
  }

  @Override
  public void onComplete() {
    whole.complete(bytes.toString(StandardCharsets.UTF_8));
  }
}
