package io.troupe.verifiers.code;

import java.util.List;

/** What a sandbox has to say about a job. */
sealed interface SandboxResult {
  /**
   * The tests were run, or failed with the program.
   *
   * @param tests all of the job's, in order
   */
  record Judged(List<TestResult> tests, ProgramExit ending) implements SandboxResult {
    public Judged {
      tests = List.copyOf(tests);
    }
  }

  /**
   * A test.
   *
   * @param reason why it failed; empty if it passed
   */
  record TestResult(boolean passed, String reason) {}

  /**
   * A whole program ran.
   *
   * @param output cut at the limit
   * @param flood whether it was cut
   * @param raised name of the error that ended the program; empty without one
   */
  record Ran(String output, boolean flood, String raised, ProgramExit ending)
      implements SandboxResult {}

  /** The program was ended before its judge could say anything. */
  record Ended(ProgramExit ending) implements SandboxResult {}

  /** The tests are broken, whatever the program does. */
  record BadProblem(String reason) implements SandboxResult {}

  /** The sandbox failed, or none became free. */
  record Failed(String reason) implements SandboxResult {}
}
