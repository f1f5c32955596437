package io.troupe.core.completion;

import static io.troupe.core.Require.require;

import io.troupe.core.weights.WeightVersion;
import java.util.Arrays;
import java.util.List;

/**
 * The number of tokens of a group that each version of the weights sampled, the oldest version
 * first.
 */
public final class TokensByVersion {
  private final WeightVersion[] versions;
  private final long[] tokens;

  private TokensByVersion(WeightVersion[] versions, long[] tokens) {
    this.versions = versions;
    this.tokens = tokens;
  }

  /** The tokens of completions, one or more. */
  public static TokensByVersion of(List<TokenVersions> completions) {
    require(!completions.isEmpty(), "a group has at least one completion");
    WeightVersion[] versions = new WeightVersion[4];
    long[] tokens = new long[4];
    int size = 0;
    for (int i = 0; i < completions.size(); i++) {
      List<TokenVersions.Span> spans = completions.get(i).spans();
      for (int j = 0; j < spans.size(); j++) {
        TokenVersions.Span span = spans.get(j);
        int at = size;
        while (at > 0 && versions[at - 1].number() > span.version().number()) {
          at--;
        }
        if (at == 0 || versions[at - 1].number() < span.version().number()) {
          if (size == tokens.length) {
            versions = Arrays.copyOf(versions, 2 * size);
            tokens = Arrays.copyOf(tokens, 2 * size);
          }
          System.arraycopy(versions, at, versions, at + 1, size - at);
          System.arraycopy(tokens, at, tokens, at + 1, size - at);
          versions[at] = span.version();
          tokens[at] = span.tokens();
          size++;
        } else {
          tokens[at - 1] += span.tokens();
        }
      }
    }
    return new TokensByVersion(Arrays.copyOf(versions, size), Arrays.copyOf(tokens, size));
  }

  /** Returns the number of versions. */
  public int size() {
    return versions.length;
  }

  /** The version at a place, from 0 on. */
  public WeightVersion version(int place) {
    return versions[place];
  }

  /** The tokens that the version at a place sampled. */
  public long tokens(int place) {
    return tokens[place];
  }

  /** The version of the oldest token. */
  public WeightVersion oldest() {
    return versions[0];
  }

  /** The version of the newest token. */
  public WeightVersion newest() {
    return versions[versions.length - 1];
  }

  /** Returns the number of all tokens. */
  public long all() {
    long sum = 0;
    for (long some : tokens) {
      sum += some;
    }
    return sum;
  }
}
