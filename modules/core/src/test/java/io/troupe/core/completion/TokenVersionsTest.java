package io.troupe.core.completion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.completion.TokenVersions.Span;
import io.troupe.core.weights.WeightVersion;
import java.util.List;
import org.junit.jupiter.api.Test;

class TokenVersionsTest {
  private static WeightVersion v(long number) {
    return new WeightVersion(number);
  }

  @Test
  void of_oneVersionAToken_joinsEqualNeighbours() {
    TokenVersions versions = TokenVersions.of(new long[] {2, 2, 3, 5, 5, 5});
    assertThat(versions.spans())
        .containsExactly(new Span(v(2), 2), new Span(v(3), 1), new Span(v(5), 3));
    assertThat(versions.oldest()).isEqualTo(v(2));
    assertThat(versions.newest()).isEqualTo(v(5));
    assertThat(versions.tokens()).isEqualTo(6);
  }

  @Test
  void uniform_tokens_isOneSpan() {
    assertThat(TokenVersions.uniform(v(4), 3)).isEqualTo(TokenVersions.of(new long[] {4, 4, 4}));
  }

  @Test
  void tokensSince_floor_countsIt() {
    TokenVersions versions = TokenVersions.of(new long[] {2, 2, 3, 5, 5, 5});
    assertThat(versions.tokensSince(v(2))).isEqualTo(6);
    assertThat(versions.tokensSince(v(3))).isEqualTo(4);
    assertThat(versions.tokensSince(v(4))).isEqualTo(3);
    assertThat(versions.tokensSince(v(6))).isZero();
  }

  @Test
  void of_weightsThatMoveBack_isRefused() {
    assertThatThrownBy(() -> TokenVersions.of(new long[] {3, 2}))
        .hasMessage("weights only move forward within a completion, but v2 follows v3");
    assertThatThrownBy(() -> new TokenVersions(List.of(new Span(v(3), 1), new Span(v(3), 1))))
        .hasMessage("weights only move forward within a completion, but v3 follows v3");
  }

  @Test
  void of_noToken_isRefused() {
    assertThatThrownBy(() -> TokenVersions.of(new long[0]))
        .hasMessageContaining("at least one token");
    assertThatThrownBy(() -> new Span(v(0), 0))
        .hasMessage("a span holds at least one token, not 0");
  }
}
