"""Fine-tuning: from a model that goes on with texts to one that answers, and answers as people like or as is right.

supervised   on answers that somebody wrote: `gptlab.train(model, AnswerCorpus(draw, tok), steps)`
preference   on pairs of answers, one of them preferred: a reward model, or DPO
grpo         on rewards for answers of its own
tasks        what the small world's model can be asked
"""

from gptlab.finetuning.answers import (
    Example,
    answer_batch,
    answer_kl,
    answer_log_probs,
    exact_matches,
    masked_batch,
    sample_answers,
    token_log_probs,
)
from gptlab.finetuning.grpo import (
    GRPOStep,
    clipped_objective,
    grpo_advantages,
    grpo_loss,
    kl_k3,
    train_grpo,
)
from gptlab.finetuning.preference import (
    Preference,
    PreferenceStep,
    RewardModel,
    bradley_terry_loss,
    dpo_loss,
    preference_batches,
    train_dpo,
    train_reward_model,
)
from gptlab.finetuning.supervised import AnswerCorpus, sft_loss

__all__ = [
    "AnswerCorpus",
    "Example",
    "GRPOStep",
    "Preference",
    "PreferenceStep",
    "RewardModel",
    "answer_batch",
    "answer_kl",
    "answer_log_probs",
    "bradley_terry_loss",
    "clipped_objective",
    "dpo_loss",
    "exact_matches",
    "grpo_advantages",
    "grpo_loss",
    "kl_k3",
    "masked_batch",
    "preference_batches",
    "sample_answers",
    "sft_loss",
    "token_log_probs",
    "train_dpo",
    "train_grpo",
    "train_reward_model",
]
