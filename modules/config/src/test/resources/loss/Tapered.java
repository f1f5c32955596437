import io.troupe.core.loss.LossFunction;
import io.troupe.core.loss.ScalarLoss.Token;
import java.util.List;

/**
 * REINFORCE; where a completion was bad, a token counts with its ratio to the sampler, at most 1.
 */
public final class Tapered implements LossFunction {
  @Override
  public Surrogates of(double advantage, List<Token> tokens) {
    double[] values = new double[tokens.size()];
    double[] derivatives = new double[tokens.size()];
    for (int t = 0; t < values.length; t++) {
      Token token = tokens.get(t);
      double ratio = Math.exp(token.stepStartLogProb() - token.behaviourLogProb());
      double weight = advantage > 0 ? 1 : Math.min(ratio, 1);
      values[t] = weight * advantage * token.logProb();
      derivatives[t] = weight * advantage;
    }
    return new Surrogates(values, derivatives);
  }
}
