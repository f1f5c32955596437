package io.troupe.aws.ec2.plan;

/** The kinds of resources that a cluster consists of, and that it can leave. */
public enum ResourceKind {
  INSTANCE("instance"),
  VOLUME("volume"),
  INTERFACE("network interface"),
  GROUP("placement group");

  private final String words;

  ResourceKind(String words) {
    this.words = words;
  }

  /** Returns the kind's name within a sentence. */
  public String words() {
    return words;
  }
}
