package io.troupe.engine.http.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.engine.http.fleet.GroupRequest.Part;
import org.junit.jupiter.api.Test;

class GroupRequestTest {
  @Test
  void again_anyNumberOfTimes_keepsTheTimeOfTheFirstRequest() {
    Part whole = new GroupRequest(FleetSamplerTest.request(1, 3)).whole();
    assertThat(whole.sinceNanos()).isEmpty();
    Part again = whole.again(7);
    assertThat(again.sinceNanos()).hasValue(7);
    assertThat(again.tries()).isEqualTo(1);
    assertThat(again.singles()).hasSize(3).allMatch(part -> part.sinceNanos().getAsLong() == 7);
  }
}
