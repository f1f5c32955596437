package io.troupe.environments.box;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.time.Duration;

/**
 * The place in which one episode, or the tests of one submission, run. An {@link IOException} is
 * the end of a box that what runs in it may have caused; a failure of the machine is an {@link
 * io.troupe.environments.EnvironmentFailedException}.
 */
interface Box {
  /** Places what lies in the box, before the first order. */
  void fill(BoxContents contents) throws IOException;

  /** Carries out an order within the time of a call: its text, exit code and cause of its end. */
  JsonNode carryOut(String session, String text) throws IOException;

  /** Reads what is handed in; nothing runs in the box any more. */
  Submission submission(BoxTask task) throws IOException;

  /** Runs the tests, ends all that runs, and reads the reward. */
  TestBoxes.Graded grade(Duration limit) throws IOException;

  /** Ends the box and all that runs in it. */
  void close();
}
