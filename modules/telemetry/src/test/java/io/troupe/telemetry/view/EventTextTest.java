package io.troupe.telemetry.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.run.Event;
import io.troupe.core.weights.WeightVersion;
import org.junit.jupiter.api.Test;

class EventTextTest {
  @Test
  void of_eventWithoutASentence_isADetailWithItsParts() {
    EventText line = EventText.of(7, 1_000, new Event.WeightsMade(new WeightVersion(3), "ab12"));
    assertThat(line)
        .isEqualTo(
            new EventText(
                7,
                1_000,
                "WeightsMade",
                2,
                "plain",
                "WeightsMade[version=v3, digest=ab12]",
                0,
                ""));
  }
}
