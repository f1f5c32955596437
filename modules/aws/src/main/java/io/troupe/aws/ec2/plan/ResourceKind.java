package io.troupe.aws.ec2.plan;

/** What a cluster consists of, and what can be left of it. */
public enum ResourceKind {
  INSTANCE("instance"),
  VOLUME("volume"),
  INTERFACE("network interface"),
  GROUP("placement group");

  private final String words;

  ResourceKind(String words) {
    this.words = words;
  }

  /** As a sentence names it. */
  public String words() {
    return words;
  }
}
