package io.troupe.engine.http.fleet;

import static io.troupe.core.Require.require;

import java.util.Collections;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Chooses the replica that samples a group. Replicas come and go. Only a ready replica, one with
 * the newest weights, gets work, and never more at a time than its limit, unless a single group
 * exceeds the limit.
 *
 * <p>All completions of a group go to one replica, so that its prefix is computed once. Among
 * replicas that are about as busy as the least busy one, the prompt decides by rendezvous hashing
 * (Thaler and Ravishankar 1998): a repeated prompt meets the same prefix cache, and a replica that
 * comes or goes moves only its own share of the prompts.
 *
 * @param members replicas by name
 */
public record LoadBalancer(SortedMap<String, Member> members) {
  /** Replicas whose load differs by less than this share of their limit count as equally busy. */
  private static final double ALIKE = 0.125;

  /** Failures in a row that take a replica out of service. */
  public static final int MOST_FAILURES = 3;

  /** No replica. */
  public static final LoadBalancer EMPTY = new LoadBalancer(new TreeMap<>());

  /**
   * A replica.
   *
   * @param limit most completions at a time
   * @param load completions that it samples
   * @param others requests of other clients, as the server reports them
   * @param ready whether it holds the newest weights and may get work
   * @param failures failures in a row
   */
  public record Member(int limit, int load, int others, boolean ready, int failures) {
    public Member {
      require(limit >= 1, "a server samples at least one completion at a time, not %d", limit);
      require(load >= 0, "a server samples no less than nothing, not %d", load);
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

  /** Adds a replica; it gets no work before it is ready. */
  public LoadBalancer join(String name, int limit) {
    return with(name, new Member(limit, 0, 0, false, 0));
  }

  /** Removes a replica, with the load that it had. */
  public LoadBalancer leave(String name) {
    SortedMap<String, Member> rest = new TreeMap<>(members);
    rest.remove(name);
    return new LoadBalancer(rest);
  }

  /** Records that a replica holds the newest weights. */
  public LoadBalancer ready(String name) {
    Optional<Member> member = member(name);
    return member
        .map(known -> with(name, new Member(known.limit, known.load, known.others, true, 0)))
        .orElse(this);
  }

  /** Withholds work from a replica for now. */
  public LoadBalancer withoutWork(String name) {
    return member(name)
        .map(
            known ->
                with(
                    name, new Member(known.limit, known.load, known.others, false, known.failures)))
        .orElse(this);
  }

  /** Records how many requests of other clients a replica has; they count like our own. */
  public LoadBalancer withOtherLoad(String name, int requests) {
    return member(name)
        .map(
            known ->
                with(
                    name,
                    new Member(known.limit, known.load, requests, known.ready, known.failures)))
        .orElse(this);
  }

  /** Withholds work from every replica, because there are newer weights. */
  public LoadBalancer allWithoutWork() {
    LoadBalancer fleet = this;
    for (String name : members.keySet()) {
      fleet = fleet.withoutWork(name);
    }
    return fleet;
  }

  /**
   * Chooses a replica.
   *
   * @param completions number of completions that the replica must sample
   * @param prompt a hash of the prompt
   * @return none if all replicas are busy or not ready
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

  /** Records that completions were given to a replica. */
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
   * Records that a replica ended completions. Too many failures in a row take it out of service:
   * {@link #isOutOfService}.
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

  /** Whether failures have taken a replica out of service. */
  public boolean isOutOfService(String name) {
    return member(name).filter(known -> known.failures >= MOST_FAILURES).isPresent();
  }

  public boolean isReady(String name) {
    return member(name).filter(Member::ready).isPresent();
  }

  /** Returns the number of replicas that may get work. */
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
