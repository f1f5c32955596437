package io.troupe.base.foreign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class ProcessEnvironmentTest {
  private static final String NAME = "TROUPE_PROCESS_ENVIRONMENT_TEST";

  @Test
  void with_readerThatReturns_seesTheVariableOnlyDuringTheCall() {
    assertThat(ProcessEnvironment.with(NAME, "1", () -> ProcessEnvironment.get(NAME)))
        .contains("1");
    assertThat(ProcessEnvironment.get(NAME)).isEmpty();
  }

  @Test
  void with_readerThatThrows_removesTheVariableAndPassesTheFailureOn() {
    assertThatThrownBy(
            () ->
                ProcessEnvironment.with(
                    NAME,
                    "1",
                    () -> {
                      throw new IllegalStateException("no library");
                    }))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("no library");
    assertThat(ProcessEnvironment.get(NAME)).isEmpty();
  }

  @Test
  void set_always_isSeenByTheLibraryAndNotByJava() {
    ProcessEnvironment.set(NAME + "_SET", "näher");

    assertThat(ProcessEnvironment.get(NAME + "_SET")).contains("näher");
    assertThat(System.getenv(NAME + "_SET")).isNull();
  }
}
