package io.troupe.engine.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.engine.http.GroupJob.Part;
import org.junit.jupiter.api.Test;

class GroupJobTest {
  @Test
  void again_anyNumberOfTimes_keepsTheTimeOfTheFirstRequest() {
    Part whole = new GroupJob(FleetSamplerTest.request(1, 3)).whole();
    assertThat(whole.sinceNanos()).isEmpty();
    Part again = whole.again(7);
    assertThat(again.sinceNanos()).hasValue(7);
    assertThat(again.tries()).isEqualTo(1);
    assertThat(again.singles()).hasSize(3).allMatch(part -> part.sinceNanos().getAsLong() == 7);
  }
}
