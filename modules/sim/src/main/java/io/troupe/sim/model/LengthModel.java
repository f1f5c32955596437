package io.troupe.sim.model;

import static io.troupe.core.Require.require;

import io.troupe.sim.model.KeyedRandom.Purpose;
import java.util.List;

/** The numbers of tokens of a group's completions. */
public sealed interface LengthModel {
  /**
   * Completions of a length whose logarithm is normal, with a part that all completions of a prompt
   * share: log L = mu + p + e.
   *
   * @param mean of the distribution before it is cut, in tokens
   * @param sigmaPrompt standard deviation of p
   * @param sigma standard deviation of e
   */
  record LogNormal(double mean, double sigmaPrompt, double sigma) implements LengthModel {
    public LogNormal {
      require(mean >= 1, "lengths.mean is 1 token or more, not %s", mean);
      require(
          sigmaPrompt >= 0 && sigma >= 0 && sigmaPrompt <= 3 && sigma <= 3,
          "lengths.sigma_prompt and lengths.sigma lie in [0, 3], not %s and %s",
          sigmaPrompt,
          sigma);
    }

    double mu() {
      return StrictMath.log(mean) - (sigmaPrompt * sigmaPrompt + sigma * sigma) / 2;
    }
  }

  /** Completions of a length that is uniform between two bounds, both included. */
  record Uniform(int least, int most) implements LengthModel {
    public Uniform {
      require(
          least >= 1 && most >= least,
          "lengths.least is 1 or more and lengths.most no smaller, not %s and %s",
          least,
          most);
    }
  }

  /**
   * Groups that were measured, in order of admission, each drawn whole: its lengths and rewards
   * belong together.
   *
   * @param cap the token limit they were measured under
   * @param drifts whether a group is drawn from those admitted at about its own time
   */
  record Empirical(List<MeasuredGroup> groups, int cap, boolean drifts) implements LengthModel {
    public Empirical {
      groups = List.copyOf(groups);
      require(!groups.isEmpty(), "lengths.groups holds one group or more");
      require(cap >= 1, "lengths.cap is 1 or more, not %s", cap);
    }

    /** The measured group that is taken for a simulated one. */
    MeasuredGroup at(GroupKey key) {
      double u = KeyedRandom.uniform(key.seed(), Purpose.GROUP, key.draw(), 0);
      int all = groups.size();
      if (!drifts) {
        return groups.get((int) (u * all));
      }
      int half = Math.max(1, (int) (all * WINDOW / 2));
      long centre = Math.min(key.group() - 1, all - 1L - half);
      long first = Math.max(0, centre - half);
      long last = Math.min(all - 1L, centre + half);
      return groups.get((int) (first + (long) (u * (last - first + 1))));
    }

    /** The completion of a measured group that is taken for a simulated one. */
    int member(GroupKey key, MeasuredGroup group, int index) {
      int size = group.lengths().size();
      if (index < size) {
        return index;
      }
      return (int) (KeyedRandom.uniform(key.seed(), Purpose.LENGTH, key.draw(), index) * size);
    }
  }

  /** Lengths and rewards of the completions of a measured group. */
  record MeasuredGroup(List<Integer> lengths, List<Double> rewards) {
    public MeasuredGroup {
      lengths = List.copyOf(lengths);
      rewards = List.copyOf(rewards);
      require(
          !lengths.isEmpty() && lengths.size() == rewards.size(),
          "a measured group has a reward a completion, not %s for %s",
          rewards.size(),
          lengths.size());
    }
  }

  /** Share of the measured groups from which a group of a drifting model is drawn. */
  double WINDOW = 0.1;

  /** Lengths of a group's completions, none above the cap. */
  default int[] lengths(GroupKey key, int completions, int cap) {
    int[] lengths = new int[completions];
    switch (this) {
      case LogNormal normal -> {
        double shared =
            normal.mu()
                + normal.sigmaPrompt
                    * KeyedRandom.normal(key.seed(), Purpose.PROMPT, key.prompt(), key.epoch());
        for (int i = 0; i < completions; i++) {
          double own = KeyedRandom.normal(key.seed(), Purpose.LENGTH, key.draw(), i);
          double length = StrictMath.exp(shared + normal.sigma * own);
          lengths[i] = (int) Math.max(1, Math.min(cap, length));
        }
      }
      case Uniform uniform -> {
        int width = uniform.most - uniform.least + 1;
        for (int i = 0; i < completions; i++) {
          double u = KeyedRandom.uniform(key.seed(), Purpose.LENGTH, key.draw(), i);
          lengths[i] = Math.min(cap, uniform.least + (int) (u * width));
        }
      }
      case Empirical measured -> {
        MeasuredGroup group = measured.at(key);
        for (int i = 0; i < completions; i++) {
          lengths[i] = Math.min(cap, group.lengths.get(measured.member(key, group, i)));
        }
      }
    }
    return lengths;
  }
}
