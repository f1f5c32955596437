package io.troupe.base.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProcessMarkTest {
  private static final ProcessMark MARKED = new ProcessMark("m");

  @ParameterizedTest
  @CsvSource({
    "'A=b|TROUPE_PROCESS_MARK=m|', S, 0, OURS",
    "'TROUPE_PROCESS_MARK=m', R, 0, OURS",
    "'TROUPE_PROCESS_MARK=m/nested', R, 0, OURS",
    "'TROUPE_PROCESS_MARK=more', R, 0, OTHERS",
    "'TROUPE_PROCESS_MARK=other|', S, 0, OTHERS",
    "'X=TROUPE_PROCESS_MARK=m|', S, 0, OTHERS",
    "'', R, 4194304, NOTHING",
    "'', Z, 4194304, OTHERS",
    "'', I, 69238880, OTHERS",
  })
  void says_environmentAndState_areOursOthersOrNotToldYet(
      String environment, String state, long flags, ProcessMark.MarkState says) {
    byte[] bytes = environment.replace('|', '\0').getBytes(StandardCharsets.UTF_8);
    String nameToBeMisread = "12 (a) S 9) %s 1 12 12 0 -1 %d 7 0".formatted(state, flags);
    assertThat(MARKED.readMark(bytes, nameToBeMisread)).isEqualTo(says);
  }
}
