package io.troupe.base.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

final class BoundedCloserTest {
  private static final Duration LONG = Duration.ofMinutes(10);

  private final List<String> closed = new CopyOnWriteArrayList<>();
  private final List<String> said = new CopyOnWriteArrayList<>();

  @Test
  void close_parts_closesTheNewestFirstAndSaysNothing() throws Exception {
    BoundedCloser closer = new BoundedCloser(LONG, LONG, said::add);
    assertThat(closer.add(() -> "the journal", "nothing", part("journal"))).isNotNull();
    closer.add(() -> "the engines", "nothing", part("engines"));
    closer.close();
    assertThat(closer.incomplete()).isFalse();
    assertThat(closed).containsExactly("engines", "journal");
    assertThat(said).isEmpty();
  }

  @Test
  void close_partThatTakesLong_isReportedAndWaitedFor() throws Exception {
    CountDownLatch reported = new CountDownLatch(1);
    BoundedCloser closer =
        new BoundedCloser(
            Duration.ofMillis(1),
            LONG,
            sentence -> {
              said.add(sentence);
              reported.countDown();
            });
    closer.add(
        () -> "sampler 2 of 2",
        "all is saved",
        () -> {
          reported.await();
          closed.add("sampler");
        });

    closer.close();

    assertThat(closer.incomplete()).isFalse();
    assertThat(closed).containsExactly("sampler");
    assertThat(said.getFirst())
        .matches("sampler 2 of 2 has not closed since .*Z; the process waits \\d+ s more for it");
  }

  @Test
  void close_partThatHangs_isLeftBehind() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    BoundedCloser closer = new BoundedCloser(Duration.ofMillis(1), Duration.ZERO, said::add);
    closer.add(() -> "sampler 2 of 2", "all is saved", never::await);

    closer.close();

    never.countDown();
    assertThat(closer.incomplete()).isTrue();
    assertThat(said)
        .singleElement()
        .asString()
        .matches("sampler 2 of 2 has not closed since .*Z and is left behind: all is saved");
  }

  @Test
  void close_partsThatFail_closesTheOthersAndThrowsTheFirstWithTheNext() {
    BoundedCloser closer = new BoundedCloser(LONG, LONG, said::add);
    closer.add(() -> "the journal", "nothing", part("journal"));
    closer.add(
        () -> "the copy",
        "nothing",
        () -> {
          throw new UncheckedIOException(new IOException("unplugged"));
        });
    closer.add(
        () -> "the engines",
        "nothing",
        () -> {
          throw new IOException("disk full");
        });

    assertThatThrownBy(closer::close)
        .isInstanceOf(IOException.class)
        .hasMessage("disk full")
        .satisfies(first -> assertThat(first.getSuppressed()).extracting("message").hasSize(1));
    assertThat(closed).containsExactly("journal");
  }

  private AutoCloseable part(String name) {
    return () -> closed.add(name);
  }
}
