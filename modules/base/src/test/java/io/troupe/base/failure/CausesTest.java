package io.troupe.base.failure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

final class CausesTest {
  private final IOException disk = new IOException("no space left");
  private final UncheckedIOException unchecked = new UncheckedIOException(disk);

  @Test
  void of_carriedOrNot_isTheCause() {
    assertThat(Causes.of(new CompletionException(new CompletionException(disk)))).isSameAs(disk);
    assertThat(Causes.of(unchecked)).isSameAs(unchecked);
    CompletionException empty = new CompletionException("nothing inside", null);
    assertThat(Causes.of(empty)).isSameAs(empty);
  }

  @Test
  void inside_otherCarriers_areTakenOffToo() {
    assertThat(
            Causes.inside(new CompletionException(unchecked), List.of(UncheckedIOException.class)))
        .isSameAs(disk);
    assertThat(Causes.root(new IllegalStateException(unchecked))).isSameAs(disk);
  }

  @Test
  void message_empty_isTheTypesName() {
    assertThat(Causes.message(disk)).isEqualTo("no space left");
    assertThat(Causes.message(new IllegalStateException(" "))).isEqualTo("IllegalStateException");
    assertThat(Causes.message(new IllegalStateException())).isEqualTo("IllegalStateException");
  }

  @Test
  void unchecked_runtimeCause_isTheCause() {
    CompletionException ofChecked = new CompletionException(disk);
    assertThat(Causes.unchecked(new CompletionException(unchecked))).isSameAs(unchecked);
    assertThat(Causes.unchecked(ofChecked)).isSameAs(ofChecked);
  }
}
