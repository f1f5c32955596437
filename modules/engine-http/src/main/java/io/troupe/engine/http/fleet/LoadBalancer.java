package io.troupe.engine.http.fleet;

import static io.troupe.core.Require.require;

import java.util.Collections;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Which server draws a group. Servers come and go; only those that are ready, at the newest
 * weights, get work, never more at a time than agreed, unless one group alone is more.
 *
 * <p>A group goes to one server as a whole, so that its prompt is read once. Among servers that are
 * about as busy as the least busy one, the prompt decides by rendezvous hashing (Thaler and
 * Ravishankar 1998): the same prompt meets the same cache again, and a server that comes or goes
 * moves only its own share.
 *
 * @param members by name
 */
public record LoadBalancer(SortedMap<String, Member> members) {
  /** Servers whose load differs by less than this share of their limit count as equally busy. */
  private static final double ALIKE = 0.125;

  /** Failures one after the other that take a server out. */
  public static final int MOST_FAILURES = 3;

  /** No server. */
  public static final LoadBalancer EMPTY = new LoadBalancer(new TreeMap<>());

  /**
   * A server.
   *
   * @param limit most completions at a time
   * @param load completions it draws
   * @param others requests of other clients that it says it has
   * @param ready whether it holds the newest weights and is trusted with work
   * @param failures one after the other
   */
  public record Member(int limit, int load, int others, boolean ready, int failures) {
    public Member {
      require(limit >= 1, "a server draws at least one completion at a time, not %d", limit);
      require(load >= 0, "a server draws no less than nothing, not %d", load);
    }

    private double share() {
      return ((double) load + others) / limit;
    }

    private boolean takes(int completions) {
      return ready && (load == 0 || load + completions <= limit);
    }
  }

  public LoadBalancer {
    members = Collections.unmodifiableSortedMap(new TreeMap<>(members));
  }

  /** A server joins; it gets no work before it is ready. */
  public LoadBalancer join(String name, int limit) {
    return with(name, new Member(limit, 0, 0, false, 0));
  }

  /** A server is gone, and what it drew with it. */
  public LoadBalancer leave(String name) {
    SortedMap<String, Member> rest = new TreeMap<>(members);
    rest.remove(name);
    return new LoadBalancer(rest);
  }

  /** A server holds the newest weights. */
  public LoadBalancer ready(String name) {
    Optional<Member> member = member(name);
    return member
        .map(known -> with(name, new Member(known.limit, known.load, known.others, true, 0)))
        .orElse(this);
  }

  /** A server gets no more work for now. */
  public LoadBalancer withoutWork(String name) {
    return member(name)
        .map(
            known ->
                with(
                    name, new Member(known.limit, known.load, known.others, false, known.failures)))
        .orElse(this);
  }

  /** A server says how many requests of others it has; they count as if they were ours. */
  public LoadBalancer withOtherLoad(String name, int requests) {
    return member(name)
        .map(
            known ->
                with(
                    name,
                    new Member(known.limit, known.load, requests, known.ready, known.failures)))
        .orElse(this);
  }

  /** There are newer weights: nobody holds them yet. */
  public LoadBalancer allWithoutWork() {
    LoadBalancer fleet = this;
    for (String name : members.keySet()) {
      fleet = fleet.withoutWork(name);
    }
    return fleet;
  }

  /**
   * Chooses a server.
   *
   * @param completions how many it is to draw
   * @param prompt a hash of the prompt
   * @return none if all are busy or away
   */
  public Optional<String> choose(int completions, long prompt) {
    double least =
        members.values().stream()
            .filter(member -> member.takes(completions))
            .mapToDouble(Member::share)
            .min()
            .orElse(0);
    return members.entrySet().stream()
        .filter(entry -> entry.getValue().takes(completions))
        .filter(entry -> entry.getValue().share() <= least + ALIKE)
        .map(Map.Entry::getKey)
        .max(
            Comparator.comparingLong((String name) -> affinity(name, prompt))
                .thenComparing(Comparator.naturalOrder()));
  }

  private static long affinity(String name, long prompt) {
    long bits = name.hashCode() * 0x9e3779b97f4a7c15L ^ prompt;
    bits = (bits ^ (bits >>> 30)) * 0xbf58476d1ce4e5b9L;
    bits = (bits ^ (bits >>> 27)) * 0x94d049bb133111ebL;
    return bits ^ (bits >>> 31);
  }

  /** Completions were given to a server. */
  public LoadBalancer started(String name, int completions) {
    return member(name)
        .map(
            known ->
                with(
                    name,
                    new Member(
                        known.limit,
                        known.load + completions,
                        known.others,
                        known.ready,
                        known.failures)))
        .orElse(this);
  }

  /**
   * A server is done with completions. One too many failures in a row withdraw it: {@link
   * #isOutOfService} says so.
   */
  public LoadBalancer ended(String name, int completions, boolean well) {
    return member(name)
        .map(
            known -> {
              int failures = well ? 0 : known.failures + 1;
              return with(
                  name,
                  new Member(
                      known.limit,
                      Math.max(0, known.load - completions),
                      known.others,
                      known.ready && failures < MOST_FAILURES,
                      failures));
            })
        .orElse(this);
  }

  /** Whether its failures have taken a server out. */
  public boolean isOutOfService(String name) {
    return member(name).filter(known -> known.failures >= MOST_FAILURES).isPresent();
  }

  public boolean isReady(String name) {
    return member(name).filter(Member::ready).isPresent();
  }

  /** Servers that may get work. */
  public long readyMembers() {
    return members.values().stream().filter(Member::ready).count();
  }

  private Optional<Member> member(String name) {
    return Optional.ofNullable(members.get(name));
  }

  private LoadBalancer with(String name, Member member) {
    SortedMap<String, Member> all = new TreeMap<>(members);
    all.put(name, member);
    return new LoadBalancer(all);
  }
}
