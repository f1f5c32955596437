package io.troupe.tasks;

import static io.troupe.core.Require.require;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Training prompts and held-out prompts, whose ids are all different.
 *
 * @param train at least one
 * @param heldOut may be empty
 */
record PromptSplit(List<Prompt> train, List<Prompt> heldOut) {
  PromptSplit {
    train = List.copyOf(train);
    heldOut = List.copyOf(heldOut);
    require(!train.isEmpty(), "a task has at least one prompt to train on");
    Map<PromptId, String> places = HashMap.newHashMap(train.size() + heldOut.size());
    requireUnique(train, "train", places);
    requireUnique(heldOut, "held-out", places);
  }

  /**
   * Holds out the share of the prompts whose ids have the smallest seeded hashes. A prompt's hash,
   * unlike the numbers of a random generator, does not depend on the other prompts, so that most
   * held-out prompts stay held out when the data grow.
   *
   * @param share in [0, 1); the number of prompts held out is rounded to the nearest
   */
  static PromptSplit split(List<Prompt> prompts, double share, long seed) {
    requireShare(share);
    record Ranked(long hash, int index) {}
    List<Ranked> ranked = new ArrayList<>(prompts.size());
    for (int i = 0; i < prompts.size(); i++) {
      ranked.add(new Ranked(hash(prompts.get(i).id().value(), seed), i));
    }
    ranked.sort(Comparator.comparingLong(Ranked::hash).thenComparingInt(Ranked::index));
    Set<Integer> chosen = new HashSet<>();
    for (Ranked r : ranked.subList(0, (int) Math.round(share * prompts.size()))) {
      chosen.add(r.index());
    }
    List<Prompt> train = new ArrayList<>();
    List<Prompt> heldOut = new ArrayList<>();
    for (int i = 0; i < prompts.size(); i++) {
      (chosen.contains(i) ? heldOut : train).add(prompts.get(i));
    }
    return new PromptSplit(train, heldOut);
  }

  static void requireShare(double share) {
    require(share >= 0 && share < 1, "the held-out share lies in [0, 1), not %s", share);
  }

  /** Returns the characters of all prompts' texts and solutions, each once, in code point order. */
  String alphabet() {
    Set<Integer> characters = new TreeSet<>();
    for (List<Prompt> prompts : List.of(train, heldOut)) {
      for (Prompt prompt : prompts) {
        prompt.text().codePoints().forEach(characters::add);
        prompt.solution().codePoints().forEach(characters::add);
      }
    }
    StringBuilder alphabet = new StringBuilder();
    characters.forEach(alphabet::appendCodePoint);
    return alphabet.toString();
  }

  private static void requireUnique(
      List<Prompt> prompts, String list, Map<PromptId, String> places) {
    for (int i = 0; i < prompts.size(); i++) {
      PromptId id = prompts.get(i).id();
      String place = list + " prompt " + i;
      String earlier = places.getOrDefault(id, "");
      require(earlier.isEmpty(), "prompt ids are unique, but %s is %s and %s", id, earlier, place);
      places.put(id, place);
    }
  }

  /** FNV-1a over the id's UTF-16 units, then the finaliser of SplitMix64 with the seed. */
  private static long hash(String id, long seed) {
    long hash = 0xcbf29ce484222325L;
    for (int i = 0; i < id.length(); i++) {
      hash = (hash ^ id.charAt(i)) * 0x100000001b3L;
    }
    long z = hash + (seed + 1) * 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
