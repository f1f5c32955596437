package io.troupe.app.soak;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class SoakTimesTest {
  private static final long SECOND = 1_000_000_000L;
  private static final Blow.Kind KILL = new Blow.Kind(Blow.Deed.KILL, Blow.Part.HEAD);
  private static final Blow.Kind STOP = new Blow.Kind(Blow.Deed.STOP, Blow.Part.NODE);

  @Test
  void lines_blowsOneUponTheOther_eachHasItsOwnTimes() {
    SoakTimes times = new SoakTimes();
    times.struck(KILL, 0);
    times.stepped(4 * SECOND);
    assertThat(times.pending()).isTrue();
    times.struck(KILL, 5 * SECOND);
    times.struck(STOP, 6 * SECOND);
    times.stepped(11 * SECOND);
    assertThat(times.well(20 * SECOND))
        .hasValueSatisfying(
            line -> assertThat(line).contains("next step after 4.0 s, all at work after 20.0 s"));
    assertThat(times.pending()).isFalse();
    assertThat(times.count()).isEqualTo(3);
    assertThat(times.lines())
        .anyMatch(line -> line.matches("kill head +2 +5.0 s +6.0 s +17.5 s +20.0 s"))
        .anyMatch(line -> line.matches("stop node +1 +5.0 s +5.0 s +14.0 s +14.0 s"))
        .anyMatch(line -> line.matches("all +3 +5.0 s +6.0 s +15.0 s +20.0 s"));
  }

  @Test
  void well_withoutABlow_saysNothing() {
    assertThat(new SoakTimes().well(1)).isEmpty();
  }
}
