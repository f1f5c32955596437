package io.troupe.sim.fit;

import static io.troupe.core.Require.require;

import java.util.List;

/**
 * Least squares with coefficients that are not negative (Lawson and Hanson 1974), for so few
 * coefficients that every subset of them can be tried.
 */
final class LeastSquares {
  private static final double SINGULAR = 1e-12;

  private LeastSquares() {}

  /** One observation: {@code y = sum of coefficient · x}, with a weight. */
  @SuppressWarnings("ArrayRecordComponent") // carried, never compared
  record Observation(double[] x, double y, double weight) {}

  /** The coefficients. */
  static double[] fit(List<Observation> observations) {
    require(!observations.isEmpty(), "a fit needs an observation");
    int n = observations.getFirst().x().length;
    double[][] normal = new double[n][n];
    double[] right = new double[n];
    double square = 0;
    for (Observation each : observations) {
      for (int i = 0; i < n; i++) {
        right[i] += each.weight() * each.x()[i] * each.y();
        for (int j = 0; j < n; j++) {
          normal[i][j] += each.weight() * each.x()[i] * each.x()[j];
        }
      }
      square += each.weight() * each.y() * each.y();
    }
    double[] best = new double[n];
    double least = square;
    for (int subset = 1; subset < 1 << n; subset++) {
      double[] solved = solve(normal, right, subset);
      double error = square;
      boolean fits = solved.length == n;
      for (int i = 0; i < n && fits; i++) {
        fits = solved[i] >= 0;
        error -= solved[i] * right[i];
      }
      if (fits && error < least) {
        least = error;
        best = solved;
      }
    }
    return best;
  }

  /** The solution with the variables of a subset; empty where these depend on each other. */
  private static double[] solve(double[][] normal, double[] right, int subset) {
    int n = right.length;
    double[][] rows = new double[n][n + 1];
    for (int i = 0; i < n; i++) {
      boolean used = (subset >> i & 1) == 1;
      rows[i][i] = 1;
      for (int j = 0; j < n && used; j++) {
        rows[i][j] = (subset >> j & 1) == 1 ? normal[i][j] : 0;
      }
      rows[i][n] = used ? right[i] : 0;
    }
    for (int pivot = 0; pivot < n; pivot++) {
      double scale = rows[pivot][pivot];
      if (Math.abs(scale) <= SINGULAR * Math.max(1e-300, Math.abs(normal[pivot][pivot]))) {
        return new double[0];
      }
      for (int j = 0; j <= n; j++) {
        rows[pivot][j] /= scale;
      }
      for (int i = 0; i < n; i++) {
        double factor = rows[i][pivot];
        for (int j = 0; j <= n && i != pivot; j++) {
          rows[i][j] -= factor * rows[pivot][j];
        }
      }
    }
    double[] solution = new double[n];
    for (int i = 0; i < n; i++) {
      solution[i] = rows[i][n];
    }
    return solution;
  }
}
